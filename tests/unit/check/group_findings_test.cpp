// Findings of many configurations: one entry for what a rule author would call one finding.
#include <gmock/gmock.h>

#include <planner/check/group_findings.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

const Rule embed = {"embed", {"fsdp"}}, embed_moe = {"embed_moe", {"fsdp"}};

Finding finding(std::vector<Rule> rules, double seconds, const char* where = "layers/mlp/wi_0") {
  Finding one{FindingId::weights_not_sharded, Severity::error, "", where, {"context"}, "", std::move(rules)};
  one.cost = FindingCost{Bytes{1}, Seconds{seconds}, Seconds{0}, Seconds{seconds}};
  return one;
}

CheckAnswer answer_of(std::vector<CaseResult> cases) { return group_findings(cases, {}, RulePlaces("default")); }

TEST(GroupFindings, KeepsRulesApartWhateverCostsMost) {
  for (const double of_experts : {1.0, 3.0}) {
    const Finding moe = finding({embed_moe}, of_experts);
    const CheckAnswer answer = answer_of({{{{"dense", "fsdp=8", MoePath::none}}, {finding({embed}, 2)}, {}, {}},
                                          {{{"experts", "fsdp=4", MoePath::ragged}}, {moe}, {}, {}},
                                          {{{"dense", "data=8", MoePath::none}}, {finding({embed}, 0.5)}, {}, {}}});
    ASSERT_EQ(answer.findings.size(), 2U);
    const bool dense_first = of_experts < 2;
    const CheckedFinding &dense = answer.findings[dense_first ? 0 : 1], &experts = answer.findings[dense_first ? 1 : 0];
    EXPECT_EQ(dense.finding.rules, std::vector{embed});
    EXPECT_THAT(dense.bites.meshes, ElementsAre("fsdp=8", "data=8"));
    EXPECT_EQ(dense.worst, "dense on fsdp=8");
    EXPECT_EQ(experts.finding.rules, std::vector{embed_moe});
    EXPECT_THAT(experts.bites.models, ElementsAre("experts"));
    EXPECT_THAT(answer.paths, ElementsAre(MoePath::ragged));
  }
}

TEST(GroupFindings, SpeaksOfTheWorstCaseOfWhatNobodyCosted) {
  const auto rows = [](double times) {
    Finding one{FindingId::worst_case_rows, Severity::note, "", "MoeBlock_0", {"expert"}, ""};
    one.extent = times;
    return one;
  };
  const CheckAnswer answer = answer_of({{{{"a", "expert=2", MoePath::ragged}}, {rows(2)}, {}, {}},
                                        {{{"b", "expert=8", MoePath::ragged}}, {rows(8)}, {}, {}},
                                        {{{"c", "expert=4", MoePath::ragged}}, {rows(4)}, {}, {}}});
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_EQ(answer.findings.front().worst, "b on expert=8, ragged path");
}

/// The tensor is where it costs most, if a rule says what the finding is about, and what it is about if none does.
TEST(GroupFindings, TellsPlacesApartOnlyWhereNoRuleIsBehindThem) {
  const auto entries = [](std::vector<Rule> rules) {
    return answer_of({{{{"a", "fsdp=8", MoePath::none}}, {finding(rules, 1, "layers/mlp/wi_0")}, {}, {}},
                      {{{"b", "fsdp=8", MoePath::none}}, {finding(rules, 2, "layers/mlp/wo")}, {}, {}}})
        .findings.size();
  };
  EXPECT_EQ(entries({embed}), 1U);
  EXPECT_EQ(entries({}), 2U);
}

}  // namespace
}  // namespace shardplan
