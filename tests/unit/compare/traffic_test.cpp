#include <gmock/gmock.h>

#include <planner/compare/traffic.hpp>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

Evaluation moving(std::vector<std::pair<CollectiveKind, AxisList>> collectives) {
  Evaluation e;
  e.mesh.axes = {{"data", 2, 1}, {"expert", 4, 1}};
  std::int64_t bytes = 1;
  for (const auto& [kind, axes] : collectives) {
    Collective collective;
    collective.kind = kind;
    collective.axes = axes;
    collective.bytes = {bytes};
    collective.executions = 10;
    collective.seconds = {2};
    collective.exposed = {1};
    e.collectives.push_back(collective);
    bytes *= 10;
  }
  return e;
}

TEST(Traffic, RaggedIsAllToAllAndAllReduceReduces) {
  const TrafficBytes traffic = traffic_of(moving({{CollectiveKind::all_to_all, {1}},
                                                  {CollectiveKind::ragged_all_to_all, {1}},
                                                  {CollectiveKind::all_gather, {0}},
                                                  {CollectiveKind::reduce_scatter, {0}},
                                                  {CollectiveKind::all_reduce, {0}},
                                                  {CollectiveKind::collective_permute, {0}}}));
  EXPECT_EQ(traffic.all_to_all.value, 110);
  EXPECT_EQ(traffic.gather.value, 1000);
  EXPECT_EQ(traffic.reduce.value, 110'000);
  EXPECT_EQ(traffic.permute.value, 1'000'000);
  EXPECT_EQ(traffic.total().value, 1'111'110);
}

TEST(Traffic, SumsEqualKindsAndAxesHeaviestFirst) {
  const auto by_axes = traffic_by_axes(moving(
      {{CollectiveKind::all_gather, {0}}, {CollectiveKind::all_gather, {0, 1}}, {CollectiveKind::all_gather, {0}}}));
  ASSERT_EQ(by_axes.size(), 2U);
  EXPECT_THAT(by_axes[0].axes, ElementsAre("data"));
  EXPECT_EQ(by_axes[0].bytes.value, 1010);
  EXPECT_EQ(by_axes[0].executions, 20);
  EXPECT_EQ(by_axes[0].seconds.value, 4);
  EXPECT_EQ(by_axes[0].exposed.value, 2);
  EXPECT_EQ(by_axes[0].hidden().value, 2);
  EXPECT_THAT(by_axes[1].axes, ElementsAre("data", "expert"));
}

}  // namespace
}  // namespace shardplan
