// The indexer's choice of keys: sums over heads that are split, what sorting holds, no gradient.
#include <gmock/gmock.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// 4 indexer heads of 64; 256 of 1024 keys a query.
ToyRun indexer_toy(const std::string& mesh) {
  Model model = toy_deepseek();
  model.q_lora_rank = 256;
  model.use_indexer = true;
  model.indexer_n_heads = 4;
  model.indexer_head_dim = 64;
  model.indexer_topk = 256;
  return {.model = model, .config = toy_moe(toy_config(1, 1024), MoePath::ragged), .mesh = mesh};
}

// Two sequences of 1024·1024 scores in float32, 8 MiB; no gradient passes them.
TEST(KeySelection, SumsScoresOverSplitHeads) {
  EXPECT_THAT(lines(run(indexer_toy("tensor=2")), "moe_layers", "indexer/top_k"),
              ElementsAre("forward reduce tensor 8 MiB x1", "rematerialized_forward reduce tensor 8 MiB x1"));
  EXPECT_THAT(lines(run(indexer_toy("data=2")), "moe_layers", "indexer/top_k"), testing::IsEmpty());
}

TEST(KeySelection, SendsNoGradientBack) {
  for (const char* mesh : {"fsdp=2", "data=2", "tensor=2"})
    EXPECT_THAT(lines(run(indexer_toy(mesh)), "moe_layers", "indexer"), Each(Not(HasSubstr("backward")))) << mesh;
}

// Scores and places of one sequence, 4 MiB each, before and after.
TEST(KeySelection, HoldsWhatIsSorted) {
  const ToyMemory memory(indexer_toy("data=2"));
  std::vector<std::int64_t> sorted;
  const auto& layer = memory.block("moe_layers");
  for (const auto& life : layer.lifetimes)
    if (describe(life.name, *layer.block) == "indexer scores and places, sorted") sorted.push_back(mib(life.bytes));
  EXPECT_THAT(sorted, ElementsAre(16));
}

// wq_b [256, 4, 64] and wk [1024, 64] in bf16; weights_proj [1024, 4] in float32.
TEST(KeySelection, GathersHeadWeightsInFloat32) {
  EXPECT_THAT(lines(run(indexer_toy("fsdp=2")), "moe_layers", "indexer/w"),
              testing::IsSupersetOf({"forward all-gather fsdp 128 KiB x2", "forward all-gather fsdp 16 KiB x1"}));
}

}  // namespace
}  // namespace shardplan
