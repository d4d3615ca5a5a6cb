#include <gmock/gmock.h>

#include <audit/audit_findings.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t mega = 1'000'000;
const Mesh mesh = {{{"fsdp", 2}, {"expert", 4}}};
const AxisList fsdp = {0}, expert = {1};

TrafficItem item(TrafficClass traffic, CollectiveKind kind, AxisList axes, std::int64_t megabytes, std::string tensor) {
  TrafficItem result;
  result.traffic = traffic;
  result.collective.kind = kind;
  result.collective.axes = std::move(axes);
  result.collective.bytes = {megabytes * mega};
  result.collective.seconds = {static_cast<double>(megabytes) * 1e-6};
  result.expert_weight = expert_weight_of(tensor);
  result.tensor = std::move(tensor);
  return result;
}

TrafficItem gather(AxisList axes, std::int64_t megabytes, std::string tensor) {
  return item(TrafficClass::gather, CollectiveKind::all_gather, std::move(axes), megabytes, std::move(tensor));
}
TrafficItem reduce(AxisList axes, std::int64_t megabytes, std::string tensor) {
  return item(TrafficClass::reduce, CollectiveKind::all_reduce, std::move(axes), megabytes, std::move(tensor));
}
TrafficItem scatter(AxisList axes, std::int64_t megabytes, std::string tensor) {
  return item(TrafficClass::reduce, CollectiveKind::reduce_scatter, std::move(axes), megabytes, std::move(tensor));
}
TrafficItem exchange(AxisList axes, std::int64_t megabytes, std::string tensor) {
  return item(TrafficClass::exchange, CollectiveKind::all_to_all, std::move(axes), megabytes, std::move(tensor));
}

using Items = std::vector<TrafficItem>;

std::vector<Finding> findings(const Items& found, const Items& expected, Against against = Against::baseline,
                              AuditThresholds thresholds = {}) {
  const AuditView view{mesh, expert, thresholds, against, true};
  return audit_findings(found, compare_traffic(found, expected), view);
}

std::vector<std::string> ids(const std::vector<Finding>& all) {
  std::vector<std::string> result;
  for (const auto& finding : all)
    result.push_back(std::string(name_of(finding.severity)) + " " + std::string(published_id(finding)));
  return result;
}

TEST(AuditFindings, NothingToSayWhenTheProgramIsAsExpected) {
  const Items same = {gather(fsdp, 1000, "x"), exchange(expert, 500, "dispatch")};
  EXPECT_THAT(findings(same, same), IsEmpty());
}

TEST(AuditFindings, StolenExpertAxis) {
  const auto all = findings({gather(expert, 500, "wi_0"), gather(expert, 500, "wi_1"), gather(expert, 500, "wo"),
                             reduce(expert, 400, "wo"), gather(fsdp, 100, "x")},
                            {gather(fsdp, 100, "x"), exchange(expert, 300, "dispatch")});
  EXPECT_THAT(ids(all), ElementsAre("error expert-axis-stolen", "error unexpected-all-gather",
                                    "error unexpected-all-reduce", "warning missing-all-to-all"));
  EXPECT_EQ(all[0].where, "wi_0, wi_1, wo");
  EXPECT_THAT(all[0].axes, ElementsAre("expert"));
  EXPECT_THAT(all[0].message, HasSubstr("double-mapping"));
  EXPECT_THAT(all[0].message, HasSubstr("1.5 GB"));
  EXPECT_THAT(all[0].message,
              HasSubstr("the gradients of wo are reduced over it in forward (400 MB, 400 us a step)"));
  EXPECT_TRUE(is_regression(all));
}

TEST(AuditFindings, AStolenAxisThatIsExpectedIsOnlyAWarning) {
  const Items same = {gather(expert, 500, "wi_0"), gather(fsdp, 100, "x")};
  EXPECT_THAT(ids(findings(same, same)), ElementsAre("warning expert-axis-stolen"));
  EXPECT_THAT(ids(findings(same, {}, Against::nothing)), ElementsAre("error expert-axis-stolen"));
}

/// As XLA:GPU does with tensor parallelism: a reduce-scatter and a gather in place of an all-reduce.
TEST(AuditFindings, AProgramThatCostsNoMoreIsNoRegression) {
  Items found = {gather(fsdp, 400, "x"), scatter(fsdp, 300, "y")};
  const Items expected = {gather(fsdp, 380, "x"), reduce(fsdp, 600, "y")};
  const auto all = findings(found, expected);
  EXPECT_THAT(ids(all), testing::Each(testing::StartsWith("note "))) << "0.70 ms of 0.98 ms";
  EXPECT_THAT(all.front().message, HasSubstr("cost no more than expected"));
  found[1].collective.seconds = {1};
  EXPECT_THAT(ids(findings(found, expected)), testing::Contains("warning unexpected-all-gather"));
}

TEST(AuditFindings, OnlyTheOutputWeightGathered) {
  EXPECT_THAT(ids(findings({gather(expert, 500, "wo")}, {}, Against::nothing)),
              ElementsAre("warning expert-output-not-peeled"));
}

TEST(AuditFindings, WeightsGatheredOverOtherAxesAreNotStolen) {
  EXPECT_THAT(findings({gather(fsdp, 500, "wi_0")}, {}, Against::nothing), IsEmpty());
}

TEST(AuditFindings, ToleranceIsOfTheStepForErrorsAndOfTheGroupForWarnings) {
  // 1 GB expected in all, 100 MB of it over fsdp; found over fsdp:
  struct Row {
    std::int64_t megabytes;
    double tolerance;
    std::vector<std::string> ids;
  };
  for (const auto& [megabytes, tolerance, expected] : {
           Row{104, 0.05, {}},
           Row{106, 0.05, {"warning unexpected-all-gather"}},
           Row{149, 0.05, {"warning unexpected-all-gather"}},
           Row{151, 0.05, {"error unexpected-all-gather"}},
           Row{151, 0.10, {"warning unexpected-all-gather"}},
           Row{102, 0.0, {"error unexpected-all-gather"}},
           Row{101, 0.0, {}},  // below 1 MiB
           Row{90, 0.05, {"note less-traffic-than-expected"}},
       })
    EXPECT_EQ(
        ids(findings({gather(fsdp, megabytes, "x"), exchange(expert, 900, "d")},
                     {gather(fsdp, 100, "x"), exchange(expert, 900, "d")}, Against::baseline, {tolerance, {1 << 20}})),
        expected)
        << megabytes << " " << tolerance;
}

TEST(AuditFindings, PhasesMayDiffer) {
  Items found = {gather(fsdp, 100, "x")}, expected = found;
  found[0].collective.phase = Phase::rematerialized_forward;
  EXPECT_THAT(findings(found, expected), IsEmpty());
}

TEST(AuditFindings, AllReduceInPlaceOfReduceScatter) {
  EXPECT_THAT(ids(findings({reduce(fsdp, 500, "x")}, {scatter(fsdp, 500, "x")})),
              ElementsAre("warning all-reduce-where-reduce-scatter-suffices"));
  EXPECT_THAT(findings({scatter(fsdp, 500, "x")}, {reduce(fsdp, 500, "x")}), IsEmpty());
  Items sliced = {reduce(fsdp, 500, "x")};
  sliced[0].scattered = true;
  EXPECT_THAT(ids(findings(sliced, sliced)), ElementsAre("note all-reduce-where-reduce-scatter-suffices"));
}

TEST(AuditFindings, GathersThatMemoryWasTooShortToKeepAreReported) {
  Items cloned = {gather(fsdp, 500, "wi_0"), gather(fsdp, 500, "wi_0"), gather(fsdp, 700, "wo")};
  cloned[1].rematerialized = cloned[2].rematerialized = true;
  const auto all = findings(cloned, cloned);
  EXPECT_THAT(ids(all), ElementsAre("warning rematerialized-all-gather"));
  EXPECT_EQ(all[0].where, "wo, wi_0");
  EXPECT_THAT(all[0].message, HasSubstr("(1.2 GB, 1.2 ms a step)"));
  EXPECT_THAT(all[0].fix, HasSubstr("per_device_batch_size"));
  cloned[1].collective.bytes = cloned[2].collective.bytes = {1 << 18};
  EXPECT_THAT(findings(cloned, cloned), IsEmpty()) << "half a MiB a step is not worth a word";
}

TEST(AuditFindings, GroupsOfNoAxesAreReported) {
  Items odd = {gather(fsdp, 500, "x")};
  odd[0].matches_no_axes = true;
  EXPECT_THAT(ids(findings(odd, odd)), ElementsAre("warning groups-match-no-axes"));
}

}  // namespace
}  // namespace shardplan
