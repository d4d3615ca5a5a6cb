#include <gmock/gmock.h>

#include <planner/report/collective_groups.hpp>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

using examples::collective;

TEST(CollectiveGroups, SumByKindAxesAndModuleHeaviestFirst) {
  constexpr auto gather = CollectiveKind::all_gather;
  Evaluation evaluation;
  for (const auto& each : {collective(Phase::forward, gather, {1}, 10, 2, "layers/moe/wi_0", 0.1),
                           collective(Phase::rematerialized_forward, gather, {1}, 30, 2, "layers/moe/wo", 0.1),
                           collective(Phase::forward, gather, {1, 2}, 10, 1, "layers/moe/wi_0", 0.5),
                           collective(Phase::forward, gather, {1}, 10, 1, "head/logits", 0.0)})
    examples::add(evaluation, each);
  const auto groups = group_collectives(evaluation);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].axes, (AxisList{1, 2}));
  EXPECT_EQ(groups[1].module, "layers/moe");
  EXPECT_THAT(groups[1].operations, testing::ElementsAre("wo", "wi_0"));
  EXPECT_EQ(groups[1].executions, 4);
  EXPECT_EQ(groups[1].bytes.value, 80);
  EXPECT_EQ(groups[2].module, "head/logits");
  EXPECT_THAT(groups[2].operations, testing::IsEmpty());
  EXPECT_EQ(sum_of(groups, 1).bytes.value, 90);
}

}  // namespace
}  // namespace shardplan
