// Layers that run once and are kept, and edges: which weights are gathered again for their gradients.
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

std::int64_t gathers_of(const ToyRun& toy, const std::string& weight, bool backward) {
  std::int64_t count = 0;
  for (const auto& c : run(toy).collectives)
    if ((c.phase != Phase::forward) == backward && c.kind == CollectiveKind::all_gather && c.op.ends_with(weight))
      count += c.executions;
  return count;
}

std::int64_t gathered_again(const ToyRun& toy, const std::string& weight) { return gathers_of(toy, weight, true); }

/// One dense layer, which is a scan of its own, then three with experts.
ToyRun dense_first(const std::string& policy, MoePath path, Compiler compiler = plain_compiler()) {
  return {toy_deepseek(), toy_moe(toy_config(1, 1024, policy), path), "default", "fsdp=8", std::move(compiler)};
}

// Its recomputation is merged with its first run, gathers included. Where a policy saves query, key and value only their
// gradients read the weights in the backward pass, too far to be merged.
TEST(SingleRuns, GatherAgainWhatOnlyAGradientReads) {
  const ToyRun full = dense_first("full", MoePath::ragged), saved = dense_first("save_dot_except_mlp", MoePath::ragged);
  for (const char* weight : {"query", "wkv_a", "wkv_b", "out"})
    EXPECT_EQ(gathered_again(full, std::string("dense_layers/self_attention/") + weight), 0) << weight;
  for (const char* weight : {"query", "wkv_a", "wkv_b"})
    EXPECT_EQ(gathered_again(saved, std::string("dense_layers/self_attention/") + weight), 1) << weight;
  EXPECT_EQ(gathered_again(saved, "dense_layers/self_attention/out"), 0);
  EXPECT_EQ(gathered_again(saved, "dense_layers/mlp/wo"), 0);
}

// A compiler that merges no gathers gathers all of its weights again.
TEST(SingleRuns, GatherAllAgainWhereNoGathersAreMerged) {
  const Compiler compiler = without(plain_compiler(), Habit::gathers_again_in_cycles);
  const ToyRun full = dense_first("full", MoePath::ragged, compiler);
  for (const char* weight : {"self_attention/query", "self_attention/out", "mlp/wi_0", "mlp/wo"})
    EXPECT_EQ(gathered_again(full, std::string("dense_layers/") + weight), 1) << weight;
}

// An iteration that is peeled off the experts' loop stands between its passes, and is long where rows are sorted; so does
// a layer of multi-token prediction, which gathers attention's weights again itself.
TEST(SingleRuns, GatherAllAgainWhereLayersStandBetween) {
  const Compiler peels = with(plain_compiler(), Habit::peels_offloading_loops);
  EXPECT_EQ(gathered_again(dense_first("minimal_offloaded", MoePath::ragged, peels), "dense_layers/mlp/wo"), 1);
  EXPECT_EQ(gathered_again(dense_first("minimal_offloaded", MoePath::dropping, peels), "dense_layers/mlp/wo"), 0);
  EXPECT_EQ(gathered_again(dense_first("minimal", MoePath::ragged, peels), "dense_layers/mlp/wo"), 0);
  const Compiler merges = without(peels, Habit::parts_single_layer_scans);
  EXPECT_EQ(gathered_again(dense_first("minimal_offloaded", MoePath::ragged, merges), "dense_layers/mlp/wo"), 0);

  ToyRun predicting = dense_first("full", MoePath::ragged);
  predicting.model.mtp_num_layers = 1;
  EXPECT_EQ(gathered_again(predicting, "dense_layers/mlp/wo"), 1);
  EXPECT_EQ(gathered_again(predicting, "mtp_layers/self_attention/out"), 1);
  EXPECT_EQ(gathered_again(predicting, "mtp_layers/shared_experts/wo"), 0);
}

TEST(SingleRuns, GatherTheHeadForEachMicrobatch) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=8"};
  EXPECT_EQ(gathers_of(toy, "head/logits_dense", false), 1);
  toy.config.gradient_accumulation_steps = 2;
  EXPECT_EQ(gathers_of(toy, "head/logits_dense", false), 2);
}

}  // namespace
}  // namespace shardplan
