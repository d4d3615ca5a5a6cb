// SARIF 2.1.0: what its schema requires, and what GitHub code scanning refuses.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <planner/check/check_request.hpp>
#include <planner/report/ci/sarif.hpp>
#include <planner/report/ci/source_place.hpp>
#include <regex>

#include "checked_file.hpp"

namespace shardplan {
namespace {

using Json = nlohmann::json;

/// The run of the log, once all of it has been looked at.
Json checked_run(const std::string& text) {
  const Json log = Json::parse(text);
  EXPECT_EQ(log["version"], "2.1.0");
  EXPECT_EQ(log["$schema"], "https://json.schemastore.org/sarif-2.1.0.json");
  EXPECT_EQ(log["runs"].size(), 1U);
  return log["runs"][0];
}

void expect_rule(const Json& rule) {
  EXPECT_TRUE(rule["id"].is_string());
  for (const char* key : {"shortDescription", "fullDescription"}) {
    EXPECT_GT(rule[key]["text"].get<std::string>().size(), 3U) << rule["id"];
    EXPECT_LE(rule[key]["text"].get<std::string>().size(), 1024U) << "GitHub shows no more";
  }
  EXPECT_GT(rule["help"]["text"].get<std::string>().size(), 3U);
  EXPECT_GT(rule["help"]["markdown"].get<std::string>().size(), 3U);
  EXPECT_TRUE(std::regex_match(rule["helpUri"].get<std::string>(), std::regex("https://[^ ]+")));
  EXPECT_THAT((std::vector<std::string>{"none", "note", "warning", "error"}),
              testing::Contains(rule["defaultConfiguration"]["level"].get<std::string>()));
}

void expect_location(const Json& location) {
  const Json& place = location.at("physicalLocation");
  const std::string uri = place.at("artifactLocation").at("uri");
  EXPECT_TRUE(std::regex_match(uri, std::regex("[A-Za-z0-9._~%-]+(/[A-Za-z0-9._~%-]+)*"))) << uri;
  EXPECT_THAT("/" + uri + "/", testing::Not(testing::HasSubstr("/../")));
  EXPECT_EQ(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_GE(place.at("region").at("startLine").get<int>(), 1);
}

void expect_code_scanning_takes(const Json& run) {
  const Json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "shardplan");
  EXPECT_TRUE(std::regex_match(driver["version"].get<std::string>(), std::regex(R"(\d+\.\d+\.\d+)")));
  EXPECT_EQ(driver["semanticVersion"], driver["version"]);
  EXPECT_TRUE(run["automationDetails"]["id"].get<std::string>().ends_with("/")) << "a category, without a run id";
  for (const auto& rule : driver["rules"]) expect_rule(rule);
  ASSERT_TRUE(run["results"].is_array());
  std::vector<std::string> fingerprints;
  for (const auto& result : run["results"]) {
    EXPECT_EQ(driver["rules"].at(result.at("ruleIndex").get<std::size_t>())["id"], result["ruleId"]);
    EXPECT_THAT((std::vector<std::string>{"note", "warning", "error"}),
                testing::Contains(result["level"].get<std::string>()));
    EXPECT_GT(result["message"]["text"].get<std::string>().size(), 3U);
    ASSERT_FALSE(result["locations"].empty());
    for (const auto& location : result["locations"]) expect_location(location);
    fingerprints.push_back(result["partialFingerprints"]["primaryLocationLineHash"]);
  }
  for (const auto& one : fingerprints)
    EXPECT_EQ(std::count(fingerprints.begin(), fingerprints.end(), one), 1) << "no two results are the same alert";
}

std::string uri_of_first(const Json& run) {
  return run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
}

TEST(CheckSarif, PointsAtTheRuleFile) {
  const Json run = checked_run(check_sarif(answer_of_file(), TEST_DATA));
  expect_code_scanning_takes(run);
  EXPECT_EQ(uri_of_first(run), "check/batch_takes_expert.yml");
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 9);
  EXPECT_FALSE(run["invocations"][0].contains("toolExecutionNotifications"));
}

TEST(CheckSarif, SaysThatAFileIsOutsideOfTheRepository) {
  const Json run = checked_run(check_sarif(answer_of_file(), "/somewhere/else"));
  expect_code_scanning_takes(run);
  EXPECT_EQ(uri_of_first(run), "batch_takes_expert.yml");
  EXPECT_THAT(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
              testing::HasSubstr("outside of the folder"));
}

TEST(CheckSarif, PointsAtABuiltInSetInItsOwnSources) {
  CheckAnswer answer = answer_of_file();
  answer.rules = "default";
  answer.rules_are_file = false;
  const Json run = checked_run(check_sarif(answer, "/anywhere"));
  expect_code_scanning_takes(run);
  EXPECT_EQ(uri_of_first(run), "rules/sets/default.yml");
}

TEST(CheckSarif, IsValidWithoutFindings) {
  CheckAnswer answer;
  answer.rules = "default";
  expect_code_scanning_takes(checked_run(check_sarif(answer, "/anywhere")));
}

/// Numbers and lines change with every release; the alert is the same one.
TEST(CheckSarif, RecognizesAFindingByItsRules) {
  CheckAnswer answer = answer_of_file();
  const Json before = checked_run(check_sarif(answer, TEST_DATA))["results"][0]["partialFingerprints"];
  answer.findings[0].finding.message += " and more";
  answer.findings[0].rules[0].line += 7;
  EXPECT_EQ(checked_run(check_sarif(answer, TEST_DATA))["results"][0]["partialFingerprints"], before);
  answer.findings[0].rules[0].rule.axes.push_back("tensor");
  EXPECT_NE(checked_run(check_sarif(answer, TEST_DATA))["results"][0]["partialFingerprints"], before);
}

TEST(CheckSarif, LeavesOutWhatIsIgnoredAndMarksWhatIsKnown) {
  CheckAnswer answer = answer_of_file();
  const std::size_t all = answer.findings.size();
  answer.findings[0].standing = Standing::ignored;
  EXPECT_EQ(checked_run(check_sarif(answer, TEST_DATA))["results"].size(), all - 1);
  answer.findings[0].standing = Standing::known;
  EXPECT_EQ(checked_run(check_sarif(answer, TEST_DATA))["results"][0]["baselineState"], "unchanged");
}

TEST(SourcePlace, IsRelativeToTheFolderAndEncoded) {
  EXPECT_EQ(source_place("a/b.yml", "/repo").uri, "a/b.yml");
  EXPECT_EQ(source_place("./a/../b.yml", "/repo").uri, "b.yml");
  EXPECT_EQ(source_place("/repo/my rules/b#1.yml", "/repo").uri, "my%20rules/b%231.yml");
  EXPECT_TRUE(source_place("../repo/b.yml", "/repo").is_inside);
  for (const char* outside : {"../b.yml", "/other/b.yml", "a/../../b.yml"}) {
    EXPECT_FALSE(source_place(outside, "/repo").is_inside) << outside;
    EXPECT_EQ(source_place(outside, "/repo").uri, "b.yml");
  }
}

}  // namespace
}  // namespace shardplan
