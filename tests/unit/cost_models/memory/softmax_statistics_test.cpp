// How long splash attention's softmax statistics live.
#include <gmock/gmock.h>

#include <cost_models/partition/pressed_blocks.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

// 8 heads of 1024 queries, a float32 for each of 128 lanes: 4 MiB.
TEST(SoftmaxStatistics, StayInMixturesWhereThatIsTheHabit) {
  const auto toy = [](const char* mesh, const Compiler& compiler) {
    return ToyMemory({toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", mesh,
                      with(compiler, Habit::pads_to_tiles)});
  };
  const ToyMemory keeps = toy("fsdp=4", with(toy_tpu(), Habit::keeps_softmax_statistics));
  const PartitionedBlock& layer = keeps.block("layers");
  EXPECT_EQ(mib(life(layer, "softmax statistics").bytes), 4);
  EXPECT_TRUE(meet(life(layer, "softmax statistics"), life(layer, "routed tokens gradient")));
  EXPECT_FALSE(exists(toy("fsdp=4", toy_tpu()).block("layers"), "softmax statistics"));
  EXPECT_TRUE(exists(toy("expert=4", toy_tpu()).block("layers"), "softmax statistics")) << "rows are exchanged";
}

// 8 heads of 1024 queries, a float32 for each of 128 lanes: 4 MiB. Depth first they wait for attention's gradient; in the
// list, and where memory is short, they are reduced at once.
TEST(SoftmaxStatistics, WaitInDenseLayersWhoseValuesAreOnTheHost) {
  const Compiler orders = with(with(toy_tpu(), Habit::takes_list_order), Habit::pads_to_tiles);
  const auto toy = [](const char* policy, const Compiler& compiler) {
    return ToyMemory({toy_llama(), toy_config(1, 1024, policy), "default", "fsdp=8", compiler});
  };
  const ToyMemory offloads = toy("qkv_proj_offloaded", orders);
  const PartitionedBlock& layer = offloads.block("layers");
  EXPECT_EQ(mib(life(layer, "softmax statistics").bytes), 4);
  EXPECT_TRUE(meet(life(layer, "softmax statistics"), life(layer, "mlp hidden gradient")));
  const auto remains = [&](const std::vector<PartitionedBlock>& blocks) {
    return exists(blocks[static_cast<std::size_t>(&layer - offloads.blocks().data())], "softmax statistics");
  };
  EXPECT_FALSE(remains(in_list(offloads.blocks())));
  EXPECT_FALSE(remains(under_pressure(offloads.blocks())));
  EXPECT_FALSE(exists(toy("full", orders).block("layers"), "softmax statistics")) << "the order isn't known";
  const Compiler one_order = with(toy_tpu(), Habit::pads_to_tiles);
  EXPECT_FALSE(exists(toy("qkv_proj_offloaded", one_order).block("layers"), "softmax statistics"));
}

}  // namespace
}  // namespace shardplan
