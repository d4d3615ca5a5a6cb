// The forms of an answer: JSON, SARIF 2.1.0, GitHub annotations, text.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <planner/check/check_request.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/ci/github.hpp>
#include <planner/report/ci/sarif.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::json;

const CheckAnswer& answer_of_file() {
  static const CheckAnswer answer = [] {
    CheckWords request;
    request.rules = TEST_DATA "/check/batch_takes_expert.yml";
    request.model = "mixtral-8x7b";
    request.mesh = "expert=8";
    return check(read_check(request));
  }();
  return answer;
}

CheckAnswer answer_of_set() {
  CheckAnswer answer = answer_of_file();
  answer.rules = "default";
  answer.rules_are_file = false;
  return answer;
}

TEST(CheckJson, HasTheFieldsOfTheInterface) {
  const Json json = Json::parse(check_json(answer_of_file()));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["command"], "check");
  EXPECT_EQ(json["verdict"], "regression");
  const Json& stolen = json["findings"][0];
  EXPECT_EQ(stolen["id"], "expert-axis-stolen");
  for (const char* key : {"severity", "message", "where", "axis", "fix", "rules", "cost", "models", "meshes"})
    EXPECT_TRUE(stolen.contains(key)) << key;
  EXPECT_EQ(stolen["rules"][0]["line"], 9);
  EXPECT_GT(stolen["cost"]["bytes"], 0);
  const auto exchanges = [](const Json& collectives) {
    return std::count_if(collectives.begin(), collectives.end(), [](const Json& c) {
      return c["kind"] == "all-to-all" && c["op"].get<std::string>().find("MoeBlock_0") != std::string::npos;
    });
  };
  EXPECT_EQ(exchanges(json["collectives"]), 0);
  EXPECT_GT(exchanges(json["expected"]), 0);
}

/// The properties that the SARIF 2.1.0 schema requires, and the forms of those we write.
void expect_sarif(const Json& log) {
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1U);
  const Json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "shardplan");
  std::vector<std::string> rules;
  for (const auto& rule : run["tool"]["driver"]["rules"]) {
    rules.push_back(rule["id"]);
    EXPECT_TRUE(rule["shortDescription"]["text"].is_string());
  }
  ASSERT_TRUE(run["results"].is_array());
  for (const auto& result : run["results"]) {
    EXPECT_THAT(rules, testing::Contains(result["ruleId"].get<std::string>()));
    EXPECT_THAT((std::vector<std::string>{"note", "warning", "error"}),
                testing::Contains(result["level"].get<std::string>()));
    EXPECT_TRUE(result["message"]["text"].is_string());
    ASSERT_FALSE(result["locations"].empty());
  }
}

TEST(CheckSarif, PointsAtTheRuleFile) {
  const Json log = Json::parse(check_sarif(answer_of_file()));
  expect_sarif(log);
  const Json& location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(location["artifactLocation"]["uri"], TEST_DATA "/check/batch_takes_expert.yml");
  EXPECT_EQ(location["region"]["startLine"], 9);
}

TEST(CheckSarif, NamesABuiltInSet) {
  const Json log = Json::parse(check_sarif(answer_of_set()));
  expect_sarif(log);
  const Json& location = log["runs"][0]["results"][0]["locations"][0];
  EXPECT_FALSE(location.contains("physicalLocation"));
  EXPECT_EQ(location["logicalLocations"][0]["name"], "default");
}

TEST(CheckSarif, IsValidWithoutFindings) {
  CheckAnswer answer;
  answer.rules = "default";
  expect_sarif(Json::parse(check_sarif(answer)));
  EXPECT_EQ(Json::parse(check_json(answer))["verdict"], "ok");
}

TEST(CheckAnnotations, AreOneLineEach) {
  const std::string text = check_annotations(answer_of_file());
  EXPECT_THAT(text, testing::StartsWith("::error file="));
  EXPECT_THAT(text, testing::HasSubstr("batch_takes_expert.yml,line=9,title=expert-axis-stolen::"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<long>(answer_of_file().findings.size()));
  EXPECT_THAT(check_annotations(answer_of_set()), testing::StartsWith("::error title=expert-axis-stolen::"));
}

TEST(CheckAnnotations, EscapeWhatTheRunnerWouldRead) {
  EXPECT_EQ(escaped_data("50%\nof: a, b"), "50%25%0Aof: a, b");
  EXPECT_EQ(escaped_property("50%\nof: a, b"), "50%25%0Aof%3A a%2C b");
}

TEST(CheckText, ShowsRulesWithTheirLines) {
  const std::string text = check_text(answer_of_file(), Style::plain());
  EXPECT_THAT(text, testing::HasSubstr("error expert-axis-stolen"));
  EXPECT_THAT(text, testing::HasSubstr("line 9 "));
  EXPECT_THAT(text, testing::HasSubstr("moe_dispatch_no_expert_sharding=True"));
}

}  // namespace
}  // namespace shardplan
