// Which findings make a check fail: new ones, not ignored, grave enough.
#include <gmock/gmock.h>

#include <fstream>
#include <planner/check/check_request.hpp>
#include <planner/check/judge.hpp>
#include <planner/check/read_baseline.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/ci/sarif.hpp>
#include <shardplan/error.hpp>

#include "../own_folder.hpp"

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const Rule batch = {"activation_batch_moe", {"data", "expert"}};

CheckedFinding finding(FindingId id, Severity severity, std::vector<std::string> models, std::vector<Rule> rules = {batch}) {
  CheckedFinding checked;
  checked.finding.id = id;
  checked.finding.severity = severity;
  for (const auto& rule : rules) checked.rules.push_back({rule, 9});
  checked.bites = {std::move(models), {"expert=8"}, {}, 1};
  return checked;
}

CheckAnswer answer_with(std::vector<CheckedFinding> findings) {
  CheckAnswer answer;
  answer.rules = "rules.yml";
  answer.rules_are_file = true;
  answer.models = {"mixtral-8x7b", "mixtral-8x22b"};
  answer.meshes = {"expert=8"};
  answer.findings = std::move(findings);
  return answer;
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = own_folder() + name;
  std::ofstream(path) << text;
  return path;
}

Standing standing(CheckedFinding checked, const CheckPolicy& policy) {
  CheckAnswer answer = answer_with({std::move(checked)});
  judge(answer, policy);
  return answer.findings.front().standing;
}

TEST(Judge, FailsOnErrorsUnlessWarningsAreAskedFor) {
  CheckAnswer answer = answer_with({finding(FindingId::missing_all_to_all, Severity::warning, {"mixtral-8x7b"})});
  judge(answer, {});
  EXPECT_FALSE(answer.is_regression());
  judge(answer, {std::nullopt, {}, Severity::warning});
  EXPECT_TRUE(answer.is_regression());
}

TEST(Judge, IgnoresByIdAndPlace) {
  const CheckedFinding stolen = finding(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b"});
  const std::pair<const char*, Standing> rows[] = {
      {"expert-axis-stolen", Standing::ignored},
      {"expert-axis-stolen:activation_batch_moe", Standing::ignored},
      {"expert-axis-stolen:mixtral-8x7b", Standing::ignored},
      {"expert-axis-stolen:expert=8", Standing::ignored},
      {"expert-axis-stolen:mixtral-8x22b", Standing::counts},
      {"missing-all-to-all", Standing::counts}};
  for (const auto& [text, expected] : rows)
    EXPECT_EQ(standing(stolen, {std::nullopt, {parse_ignored(text)}, Severity::error}), expected) << text;
  const CheckedFinding two = finding(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b", "mixtral-8x22b"});
  EXPECT_EQ(standing(two, {std::nullopt, {parse_ignored("expert-axis-stolen:mixtral-8x7b")}, Severity::error}),
            Standing::counts)
      << "it is on another model too";
}

TEST(Judge, RefusesToIgnoreWhatNobodyFinds) {
  EXPECT_THAT([] { parse_ignored("expert-axis-stole"); },
              ThrowsMessage<InputError>(HasSubstr("unknown finding 'expert-axis-stole'; nearest: expert-axis-stolen")));
  EXPECT_THAT([] { parse_ignored("expert-axis-stolen:"); }, ThrowsMessage<InputError>(HasSubstr("is missing")));
}

/// Both forms that an earlier check may have been written in.
TEST(Baseline, IsReadBackFromWhatCheckWrote) {
  const CheckAnswer before = answer_with({finding(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b"})});
  for (const auto& path : {written("baseline.json", check_json(before)),
                           written("baseline.sarif", check_sarif(before, own_folder()))}) {
    const CheckPolicy policy = {read_baseline(path), {}, Severity::error};
    const auto now = [&](FindingId id, Severity severity, std::vector<std::string> models,
                         std::vector<Rule> rules = {batch}) {
      return standing(finding(id, severity, std::move(models), std::move(rules)), policy);
    };
    EXPECT_EQ(now(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b"}), Standing::known) << path;
    EXPECT_EQ(now(FindingId::expert_axis_stolen, Severity::note, {"mixtral-8x7b"}), Standing::known) << "less grave";
    EXPECT_EQ(now(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b", "mixtral-8x22b"}), Standing::counts)
        << "on a model that it was not found on";
    EXPECT_EQ(now(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b", "gemma9"}), Standing::known)
        << "a model that nobody looked at is not news";
    EXPECT_EQ(now(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b"}, {{"exp", {}}}), Standing::counts)
        << "by another rule";
    EXPECT_EQ(now(FindingId::missing_all_to_all, Severity::error, {"mixtral-8x7b"}), Standing::counts);
  }
}

TEST(Baseline, CountsAFindingThatHasBecomeGraver) {
  const CheckAnswer before = answer_with({finding(FindingId::missing_all_to_all, Severity::note, {"mixtral-8x7b"})});
  const CheckPolicy policy = {read_baseline(written("note.json", check_json(before))), {}, Severity::warning};
  EXPECT_EQ(standing(finding(FindingId::missing_all_to_all, Severity::warning, {"mixtral-8x7b"}), policy), Standing::counts);
}

TEST(Baseline, MustBeAnAnswerOfCheck) {
  const std::string other = written("other.json", R"({"schema_version": 1, "command": "plan"})");
  EXPECT_THAT([&] { read_baseline(other); },
              ThrowsMessage<InputError>(HasSubstr("other.json: expected what `shardplan check` wrote")));
  EXPECT_THROW(read_baseline(written("broken.json", "{")), InputError);
  EXPECT_THROW(read_baseline("no-such-file.json"), InputError);
}

}  // namespace
}  // namespace shardplan
