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
      {"expert-axis-stolen:Mixtral_8x7B", Standing::ignored},
      {"expert-axis-stolen:expert=8", Standing::ignored},
      {"expert-axis-stolen:expert=4", Standing::counts},
      {"expert-axis-stolen:activation_embed", Standing::counts},
      {"expert-axis-stolen:mixtral-8x22b", Standing::counts},
      {"missing-all-to-all", Standing::counts}};
  for (const auto& [text, expected] : rows)
    EXPECT_EQ(standing(stolen, {std::nullopt, {parse_ignored(text)}, Severity::error}), expected) << text;
  const CheckedFinding two = finding(FindingId::expert_axis_stolen, Severity::error, {"mixtral-8x7b", "mixtral-8x22b"});
  EXPECT_EQ(standing(two, {std::nullopt, {parse_ignored("expert-axis-stolen:mixtral-8x7b")}, Severity::error}),
            Standing::counts)
      << "it is on another model too";
}

TEST(Judge, TakesAMeshInAnyOrder) {
  CheckAnswer answer = answer_with({});
  answer.meshes = {"fsdp=2,expert=4"};
  EXPECT_EQ(placed(parse_ignored("expert-axis-stolen:expert=4,fsdp=2"), answer).place, "fsdp=2,expert=4");
}

TEST(Judge, RefusesToIgnoreWhatNobodyFinds) {
  const auto place = [](const char* text) {
    return [text] { placed(parse_ignored(text), answer_with({})); };
  };
  EXPECT_THAT(place("expert-axis-stolen:activation_btch"),
              ThrowsMessage<InputError>(HasSubstr("unknown place 'activation_btch'; nearest: activation_batch")));
  EXPECT_THAT(place("expert-axis-stolen:exprt=8"), ThrowsMessage<InputError>(HasSubstr("nearest: expert=8")));

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

/// Two entries of one id: weights of experts and of the dense layers. Which of them costs more is the cost model's affair.
TEST(Baseline, KnowsAFindingByItsRulesWhateverItsWorstPlace) {
  const Rule of_dense = {"embed", {"fsdp"}}, of_experts = {"embed_moe", {"fsdp"}};
  const auto of = [](const Rule& rule, Severity severity, const char* model) {
    return finding(FindingId::weights_not_sharded, severity, {model}, {rule});
  };
  const auto error = [&](const Rule& rule, const char* model) { return of(rule, Severity::error, model); };
  struct Case {
    const char* what;
    std::vector<CheckedFinding> before, now;
    std::vector<Standing> standings;
  };
  const Case rows[] = {
      {"the other one is the worst now",
       {error(of_experts, "mixtral-8x7b"), error(of_dense, "mixtral-8x22b")},
       {error(of_dense, "mixtral-8x22b"), error(of_experts, "mixtral-8x7b")},
       {Standing::known, Standing::known}},
      {"one of them is new",
       {error(of_experts, "mixtral-8x7b")},
       {error(of_dense, "mixtral-8x7b"), error(of_experts, "mixtral-8x7b")},
       {Standing::counts, Standing::known}},
      {"an error of then is a note now, beside the note of then",
       {error(of_dense, "mixtral-8x7b"), of(of_dense, Severity::note, "mixtral-8x22b")},
       {finding(FindingId::weights_not_sharded, Severity::note, {"mixtral-8x7b", "mixtral-8x22b"}, {of_dense})},
       {Standing::known}},
  };
  for (const auto& [what, before, now, standings] : rows) {
    CheckAnswer answer = answer_with(now);
    judge(answer, {read_baseline(written("rules.json", check_json(answer_with(before)))), {}, Severity::error});
    std::vector<Standing> found;
    for (const auto& checked : answer.findings) found.push_back(checked.standing);
    EXPECT_EQ(found, standings) << what;
  }
}

TEST(Baseline, CountsAFindingOnAPathThatHadNone) {
  const auto on = [](std::vector<MoePath> paths) {
    CheckedFinding checked = finding(FindingId::missing_all_to_all, Severity::error, {"mixtral-8x7b"});
    checked.bites.paths = std::move(paths);
    return checked;
  };
  CheckAnswer before = answer_with({on({MoePath::dropping})});
  before.paths = {MoePath::dropping, MoePath::ragged};
  for (const auto& path : {written("paths.json", check_json(before)),
                           written("paths.sarif", check_sarif(before, own_folder()))}) {
    const CheckPolicy policy = {read_baseline(path), {}, Severity::error};
    EXPECT_EQ(standing(on({MoePath::dropping}), policy), Standing::known);
    EXPECT_EQ(standing(on({MoePath::dropping, MoePath::ragged}), policy), Standing::counts);
    EXPECT_EQ(standing(on({MoePath::dropping, MoePath::ring}), policy), Standing::known) << "nobody looked at it";
  }
}

/// A file of before 2026-11: one entry an id, whose rules are those of its worst place.
TEST(Baseline, OfBeforeStandsForAllOfItsIdWhileItsOwnRuleIsAmongThem) {
  const char* before = R"({"schema_version": 1, "command": "check", "rules": "rules.yml", "models": ["mixtral-8x7b"],
    "meshes": ["expert=8"], "findings": [{"id": "weights-not-sharded", "severity": "error",
    "rules": [{"logical": "embed", "axes": ["fsdp"], "line": 3}], "models": ["mixtral-8x7b"], "meshes": ["expert=8"]}]})";
  const CheckPolicy policy = {read_baseline(written("before.json", before)), {}, Severity::error};
  const auto of = [](const char* logical) {
    return finding(FindingId::weights_not_sharded, Severity::error, {"mixtral-8x7b"}, {{logical, {"fsdp"}}});
  };
  CheckAnswer answer = answer_with({of("embed_moe"), of("embed")});
  judge(answer, policy);
  EXPECT_EQ(answer.findings[0].standing, Standing::known);
  EXPECT_EQ(answer.findings[1].standing, Standing::known);
  EXPECT_EQ(standing(of("embed_moe"), policy), Standing::counts) << "the rule of then is no longer among them";
}

TEST(Baseline, CountsAFindingThatHasBecomeGraver) {
  const CheckAnswer before = answer_with({finding(FindingId::missing_all_to_all, Severity::note, {"mixtral-8x7b"})});
  const CheckPolicy policy = {read_baseline(written("note.json", check_json(before))), {}, Severity::warning};
  EXPECT_EQ(standing(finding(FindingId::missing_all_to_all, Severity::warning, {"mixtral-8x7b"}), policy), Standing::counts);
}

CheckAnswer costing(double seconds, std::int64_t bytes, std::vector<CheckedFinding> findings = {}) {
  CheckAnswer answer = answer_with(std::move(findings));
  answer.hardware = "tpu-v5p";
  answer.paths = {MoePath::dropping};
  answer.costed = {{{"mixtral-8x7b", "expert=8", MoePath::dropping}, 8192, Seconds{1}, Bytes{100}},
                   {{"mixtral-8x22b", "expert=8", MoePath::dropping}, 8192, Seconds{seconds}, Bytes{bytes}}};
  return answer;
}

std::vector<std::string> ids_under(CheckAnswer answer, const CheckPolicy& policy) {
  judge(answer, policy);
  std::vector<std::string> ids;
  for (const auto& checked : answer.findings)
    if (checked.standing == Standing::counts) ids.emplace_back(published_id(checked.finding));
  return ids;
}

/// Rules that no finding is about.
TEST(Baseline, CountsWhatBecameSlower) {
  const std::string slower(name_of(FindingId::slower_than_baseline));
  const CheckAnswer before = costing(2, 100);
  for (const auto& path : {written("steps.json", check_json(before)),
                           written("steps.sarif", check_sarif(before, own_folder()))}) {
    const CheckPolicy policy = {read_baseline(path), {}, Severity::error};
    EXPECT_THAT(ids_under(costing(2.2, 110), policy), testing::ElementsAre(slower)) << path;
    EXPECT_THAT(ids_under(costing(2.05, 110), policy), testing::IsEmpty()) << "by 2.5%";
    EXPECT_THAT(ids_under(costing(2.2, 90), policy), testing::ElementsAre(slower)) << "by compute";
    EXPECT_THAT(ids_under(costing(1.5, 50), policy), testing::IsEmpty());
    CheckAnswer other = costing(2.2, 110);
    other.costed.back().tokens = 16384;
    EXPECT_THAT(ids_under(other, policy), testing::IsEmpty()) << "another batch";
    other = costing(2.2, 110);
    other.hardware = "h100";
    EXPECT_THAT(ids_under(other, policy), testing::IsEmpty());
    other = costing(2.2, 110);
    other.arguments = {"remat_policy=full"};
    EXPECT_THAT(ids_under(other, policy), testing::IsEmpty()) << "not the rules";
    const CheckPolicy ignoring = {policy.baseline, {parse_ignored(slower)}, Severity::error};
    EXPECT_THAT(ids_under(costing(2.2, 110), ignoring), testing::IsEmpty());
    CheckedFinding why = finding(FindingId::missing_all_to_all, Severity::error, {"mixtral-8x22b"});
    why.bites.paths = {MoePath::dropping};
    EXPECT_THAT(ids_under(costing(2.2, 110, {why}), policy), testing::ElementsAre("missing-all-to-all")) << "said";
    why.bites.paths = {MoePath::ragged};
    EXPECT_THAT(ids_under(costing(2.2, 110, {why}), policy), testing::SizeIs(2)) << "of another path";
    why = finding(FindingId::missing_all_to_all, Severity::warning, {"mixtral-8x22b"});
    why.bites.paths = {MoePath::dropping};
    EXPECT_THAT(ids_under(costing(2.2, 110, {why}), policy), testing::SizeIs(2)) << "it doesn't fail";
  }
  CheckAnswer now = costing(2.2, 110);
  judge(now, {read_baseline(written("steps.json", check_json(before))), {}, Severity::error});
  EXPECT_TRUE(now.is_regression());
  EXPECT_EQ(now.findings.front().worst, "mixtral-8x22b on expert=8, dropping path");
  EXPECT_THAT(now.findings.front().finding.message,
              HasSubstr("a step takes 2.2 s and moves 0.11 kB, in the baseline 2 s and 0.1 kB: 10.0% longer"));
  EXPECT_THAT(now.findings.front().bites.paths, testing::ElementsAre(MoePath::dropping));
}

TEST(Baseline, CountsWhatDoesNotStartAnyMore) {
  const CheckAnswer before = costing(2, 100);
  const CheckPolicy policy = {read_baseline(written("starts.json", check_json(before))), {}, Severity::error};
  CheckAnswer now = costing(2, 100);
  now.costed.pop_back();
  EXPECT_THAT(ids_under(now, policy), testing::IsEmpty()) << "nobody looked at it";
  now.left_out = {{{"mixtral-8x22b", "expert=16", MoePath::dropping}, "never ran"},
                  {{"mixtral-8x22b", "expert=8", MoePath::dropping}, "query is 32, which fsdp=64 can't divide"}};
  EXPECT_THAT(ids_under(now, policy), testing::ElementsAre("refused-since-baseline"));
  judge(now, policy);
  EXPECT_EQ(now.findings.front().bites.cases, 1);
  EXPECT_THAT(now.findings.front().finding.message, HasSubstr("which fsdp=64 can't divide"));
  now = costing(2, 100);
  now.costed.pop_back();
  now.left_out = {{{"mixtral-8x22b", "", MoePath::none}, "no rule of the model's starts"}};
  EXPECT_THAT(ids_under(now, policy), testing::ElementsAre("refused-since-baseline")) << "all of a model's";
}

/// A moved rule is the same rule.
TEST(Baseline, CountsMeshesThatTheRulesHaveNoAxisForAnyMore) {
  const CheckPolicy policy = {read_baseline(written("axes.json", check_json(costing(2, 100)))), {}, Severity::error};
  CheckAnswer now = costing(2, 100);
  now.costed.clear();
  EXPECT_THAT(ids_under(now, policy), testing::IsEmpty()) << "one mesh was asked for, another";
  now.swept = {{"mixtral-8x7b", {"data", "fsdp"}}, {"mixtral-8x22b", {"data", "fsdp", "expert"}}};
  judge(now, policy);
  ASSERT_EQ(now.findings.size(), 1U);
  EXPECT_EQ(now.findings.front().finding.id, FindingId::refused_since_baseline);
  EXPECT_THAT(now.findings.front().finding.message, testing::EndsWith("the rules have no mesh axis 'expert'"));
  EXPECT_THAT(now.findings.front().bites.models, testing::ElementsAre("mixtral-8x7b"));
}

TEST(Baseline, ComparesArgumentsByTheirValues) {
  CheckAnswer before = costing(2, 100);
  before.arguments = {"capacity_factor=1.0", "ici_expert_parallelism=8", "scan_layers=true"};
  const CheckPolicy policy = {read_baseline(written("values.json", check_json(before))), {}, Severity::error};
  CheckAnswer now = costing(3, 100);
  now.arguments = {"capacity_factor=1", "scan_layers=True"};
  EXPECT_THAT(ids_under(now, policy), testing::ElementsAre(name_of(FindingId::slower_than_baseline)));
  now.arguments = {"capacity_factor=1.25", "scan_layers=True"};
  judge(now, policy);
  EXPECT_THAT(now.findings, testing::IsEmpty());
  EXPECT_EQ(now.not_compared, "the baseline's are under other arguments (capacity_factor)");
  now.hardware = "h100";
  judge(now, policy);
  EXPECT_EQ(now.not_compared, "the baseline's are of tpu-v5p, these of h100");
}

TEST(Baseline, KnowsAFindingInAnyOrderOfItsRules) {
  const Rule one = {"vocab", {}}, other = {"embed_vocab", {"fsdp"}};
  const auto of = [](std::vector<Rule> rules) {
    return finding(FindingId::weights_not_sharded, Severity::error, {"mixtral-8x7b"}, std::move(rules));
  };
  const std::string path = written("order.json", check_json(answer_with({of({one, other})})));
  EXPECT_EQ(standing(of({other, one}), {read_baseline(path), {}, Severity::error}), Standing::known);
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
