// Layers that are scanned in blocks of several: which weights the backward pass gathers once more.
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

/// Two blocks of two local layers and a global one, no norms after attention and MLP.
Model toy_blocks() {
  Model model = toy_llama();
  model.layers = 6;
  model.attention_pattern = {256, 2};
  return model;
}

std::int64_t gathers(const ToyRun& toy, const std::string& weight) {
  std::int64_t count = 0;
  for (const auto& c : run(toy).collectives)
    if (c.phase == Phase::rematerialized_forward && c.kind == CollectiveKind::all_gather && c.op.ends_with(weight))
      count += c.executions;
  return count;
}

struct ScanRow {
  std::string policy;
  std::int64_t query, out, wi, wo;
};

// Six layers gather a weight once each for its gradient. Again where its product is recomputed and more recomputation
// follows from it before the gradient comes: in all four layers that lead to another one of their block; of query, key
// and value in the two others too, whose recomputation runs on through their MLP. A saved product is not recomputed, and
// from a saved output projection on nothing before it is.
TEST(ScanBlocks, GatherAgainWhatIsRecomputedToReachALaterLayer) {
  for (const auto& row : {ScanRow{"full", 12, 10, 10, 10}, ScanRow{"save_out_proj", 6, 6, 10, 10},
                          ScanRow{"minimal_with_context", 6, 6, 6, 6}}) {
    const ToyRun toy{toy_blocks(), toy_config(1, 1024, row.policy), "default", "fsdp=8"};
    EXPECT_EQ(gathers(toy, "self_attention/query"), row.query) << row.policy;
    EXPECT_EQ(gathers(toy, "self_attention/value"), row.query) << row.policy;
    EXPECT_EQ(gathers(toy, "self_attention/out"), row.out) << row.policy;
    EXPECT_EQ(gathers(toy, "mlp/wi_0"), row.wi) << row.policy;
    EXPECT_EQ(gathers(toy, "mlp/wo"), row.wo) << row.policy;
  }
}

// A norm over all heads runs again in every layer, and the product before it, on another form of its weight than the
// gradient reads; values have no norm, and a norm of each head leaves the weight as it is.
TEST(ScanBlocks, GatherAgainWhatOneNormSpans) {
  for (const bool over_all_heads : {true, false}) {
    Model model = toy_blocks();
    model.use_qk_norm = true;
    model.qk_norm_over_all_heads = over_all_heads;
    const ToyRun toy{model, toy_config(1, 1024, "minimal_with_context"), "default", "fsdp=8"};
    EXPECT_EQ(gathers(toy, "self_attention/query"), over_all_heads ? 12 : 6);
    EXPECT_EQ(gathers(toy, "self_attention/key"), over_all_heads ? 12 : 6);
    EXPECT_EQ(gathers(toy, "self_attention/value"), 6);
  }
}

TEST(ScanBlocks, OfOneLayerGatherOnce) {
  const ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=8"};
  for (const char* weight : {"self_attention/query", "self_attention/out", "mlp/wi_0", "mlp/wo"})
    EXPECT_EQ(gathers(toy, weight), 4) << weight;
}

TEST(ScanBlocks, GatherOnceWithACompilerThatMergesAllGathers) {
  const ToyRun toy{toy_blocks(), toy_config(1, 1024), "default", "fsdp=8",
                   without(plain_compiler(), Habit::gathers_again_in_cycles)};
  for (const char* weight : {"self_attention/query", "self_attention/out", "mlp/wi_0", "mlp/wo"})
    EXPECT_EQ(gathers(toy, weight), 6) << weight;
}

// Expert weights enter a shard_map gathered, and its gradient is handed what entered.
TEST(ScanBlocks, GatherTheOperandsOfAShardMapOnce) {
  Model model = toy_mixtral();
  model.layers = 6;
  model.attention_pattern = {256, 2};
  Compiler compiler = with(plain_compiler(), Habit::gathers_moe_layer_weights_twice);
  const ToyRun toy{model, toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "fsdp=8", compiler};
  EXPECT_EQ(gathers(toy, "MoeBlock_0/wi_0"), 6);
  EXPECT_EQ(gathers(toy, "MoeBlock_0/wo"), 6);
  EXPECT_EQ(gathers(toy, "self_attention/out"), 12);
  ToyRun saved = toy;
  saved.config = toy_moe(toy_config(1, 1024, "save_out_proj"), MoePath::ragged);
  EXPECT_EQ(gathers(saved, "self_attention/out"), 6) << "no recomputation of attention leads on to experts";
}

}  // namespace
}  // namespace shardplan
