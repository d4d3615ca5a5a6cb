// The forms of an answer: JSON, GitHub annotations, text. SARIF has a test of its own.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <planner/check/check_request.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/ci/github.hpp>

#include "checked_file.hpp"

namespace shardplan {
namespace {

using Json = nlohmann::json;

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

TEST(CheckText, NamesWhatDoesNotCountByIdAlone) {
  CheckAnswer answer = answer_of_file();
  for (auto& checked : answer.findings) checked.standing = Standing::known;
  answer.findings.front().standing = Standing::ignored;
  const std::string text = check_text(answer, Style::plain());
  EXPECT_THAT(text, testing::HasSubstr("no new findings"));
  EXPECT_THAT(text, testing::HasSubstr("\nignored: expert-axis-stolen\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("line 9 ")));
  EXPECT_EQ(check_annotations(answer), "");
}

TEST(CheckText, ShowsRulesWithTheirLines) {
  const std::string text = check_text(answer_of_file(), Style::plain());
  EXPECT_THAT(text, testing::HasSubstr("error expert-axis-stolen"));
  EXPECT_THAT(text, testing::HasSubstr("line 9 "));
  EXPECT_THAT(text, testing::HasSubstr("moe_dispatch_no_expert_sharding=True"));
}

}  // namespace
}  // namespace shardplan
