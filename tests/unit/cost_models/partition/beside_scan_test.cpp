// Layers written out beside the scans: nothing is recomputed, and equal gathers are too far apart to be merged.
#include <gmock/gmock.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// Three layers, the middle one with n-gram memory: four streams, two heads for bigrams.
ToyRun toy() {
  Model model = toy_deepseek();
  model.layers = 3;
  model.mhc_expansion_rate = 4;
  model.engram_layers = {1};
  model.engram_vocab_bases = {10000};
  model.engram_num_heads = 2;
  model.engram_head_dim = 64;
  return {.model = model, .config = toy_moe(toy_config(1, 1024), MoePath::ragged), .mesh = "fsdp=2"};
}

TEST(BesideScan, NothingIsRecomputed) {
  EXPECT_THAT(lines(run(toy()), "moe_layers_engram_1", ""), Each(Not(HasSubstr("rematerialized"))));
  EXPECT_THAT(lines(run(toy()), "moe_layers_2_2", "self_attention/out"), Contains(HasSubstr("rematerialized_forward")));
}

TEST(BesideScan, WeightsAreGatheredAgainForTheirGradients) {
  for (const char* weight : {"self_attention/out", "shared_experts/wo"})
    EXPECT_THAT(lines(run(toy()), "moe_layers_engram_1", weight), Contains(HasSubstr("backward all-gather fsdp"))) << weight;
}

// The shard_map's operand is a value that its gradient reads.
TEST(BesideScan, ExpertsStayGathered) {
  const auto moved = lines(run(toy()), "moe_layers_engram_1", "MoeBlock_0/wi_0");
  EXPECT_THAT(moved, Contains(HasSubstr("forward all-gather fsdp")));
  EXPECT_THAT(moved, Each(Not(HasSubstr("backward all-gather"))));
}

// Rows of a float32 table are narrowed before they move, their gradient isn't: twice the bytes.
TEST(BesideScan, RowsOfAWideTableReturnWide) {
  const auto moved = lines(run(toy()), "moe_layers_engram_1", "engram/multi_head_embedding");
  EXPECT_THAT(moved, Contains(HasSubstr("forward all-to-all fsdp 256 KiB")));
  EXPECT_THAT(moved, Contains(HasSubstr("backward all-to-all fsdp 512 KiB")));
}

}  // namespace
}  // namespace shardplan
