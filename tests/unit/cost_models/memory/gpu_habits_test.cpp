// Habits of XLA:GPU on toys.
#include <gmock/gmock.h>

#include <cost_models/memory/gradient_memory.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using ::testing::ElementsAre;

const Lifetime* find_life(const PartitionedBlock& block, const std::string& name) {
  const Lifetime* found = nullptr;
  for (const auto& life : block.lifetimes)
    if (describe(life.name, *block.block) == name) found = &life;
  return found;
}

std::int64_t mib_of(const PartitionedBlock& block, const std::string& name) {
  const Lifetime* life = find_life(block, name);
  return life ? mib(life->bytes) : 0;
}

bool meet(const PartitionedBlock& block, const std::string& a, const std::string& b) {
  const Lifetime *one = find_life(block, a), *other = find_life(block, b);
  return one && other && std::max(one->first, other->first) <= std::min(one->last, other->last);
}

// 1024² scores of 8 heads in bf16 are 16 MiB. Key and value gradients contract (query, group): with 4 query heads on
// one of keys the scores are written once more in that order, in the place of the mask (8 MiB); with one on one they are
// read as they are.
TEST(GroupedScores, AreTransposedForTheirGradients) {
  TrainConfig config = toy_config(1, 1024);
  config.attention = AttentionKernel::dot_product;
  const Compiler compiler = with(toy_gpu(), Habit::transposes_grouped_scores);
  Model grouped = toy_llama();
  grouped.kv_heads = 2;
  const ToyMemory four({grouped, config, "default", "fsdp=1", compiler});
  EXPECT_EQ(mib_of(four.block("layers"), "attention probabilities, transposed"), 16 - 8);
  EXPECT_TRUE(meet(four.block("layers"), "attention probabilities, transposed", "attention probabilities gradient"));
  const ToyMemory one({toy_llama(), config, "default", "fsdp=1", compiler});
  EXPECT_EQ(mib_of(one.block("layers"), "attention probabilities, transposed"), 0);
}

// Products of a library read the scores' gradient as they want it: each of two has its own, and one head on one of keys
// leaves the scores themselves beside the probabilities.
TEST(GroupedScores, AreWrittenForEachProductOfALibrary) {
  TrainConfig config = toy_config(1, 1024);
  config.attention = AttentionKernel::dot_product;
  Model grouped = toy_llama();
  grouped.kv_heads = 2;
  const auto written = [&](const Model& model, const Compiler& compiler, const char* name) {
    return mib_of(ToyMemory({model, config, "default", "fsdp=1", compiler}).block("layers"), name);
  };
  const Compiler library = with(toy_gpu(), Habit::writes_product_operands);
  const char* gradient = "attention scores gradient, as products read it";
  EXPECT_EQ(written(toy_llama(), library, gradient), 2 * 16);
  EXPECT_EQ(written(grouped, library, gradient), 16);
  EXPECT_EQ(written(toy_llama(), toy_gpu(), gradient), 0);
  EXPECT_EQ(written(toy_llama(), library, "attention scores"), 16);
  EXPECT_EQ(written(grouped, library, "attention scores"), 0);
}

// gemma2's: a hyperbolic tangent, whose gradient reads what was multiplied.
TEST(DotProductAttention, KeepsCappedScores) {
  TrainConfig config = toy_config(1, 1024);
  config.attention = AttentionKernel::dot_product;
  Model model = toy_llama();
  const auto kept = [&](Compiler compiler, bool fuses) {
    compiler.vector_kernels.fuses_into_products = fuses;
    return mib_of(ToyMemory({model, config, "default", "fsdp=1", compiler}).block("layers"), "attention scores");
  };
  EXPECT_EQ(kept(toy_gpu(), false), 0);
  model.caps_scores = true;
  EXPECT_EQ(kept(toy_gpu(), false), 16);
  EXPECT_EQ(kept(toy_gpu(), true), 0) << "the product makes them again";
}

/// Of a layer's dispatch in the forward pass.
std::vector<std::string> exchanges(const ToyRun& toy) {
  std::vector<std::string> all = lines(run(toy), "layers", "MoeBlock_0/dispatch");
  std::erase_if(all, [](const std::string& line) { return !line.starts_with("forward "); });
  return all;
}

struct ExpertRow {
  const char* mesh;
  std::int64_t rows, expanded, transposed;  ///< MiB
};

// 8 experts, 2 of them for each of 1024 tokens, 512 wide in bf16; the buffer is for the worst case of n devices:
// 1024 · 2 · min(n, 8/2) rows of 1 KiB. Each is written once for each expert on the device, and once more transposed.
TEST(DenseRaggedDot, WritesRowsOnceForEachExpertOfTheDevice) {
  const Compiler compiler = with(toy_gpu(), Habit::ragged_dot_is_dense);
  TrainConfig config = toy_moe(toy_config(1, 1024), MoePath::ragged);
  config.megablox = false;
  for (const auto& row :
       {ExpertRow{"expert=8", 8, 8, 0}, ExpertRow{"expert=4", 8, 16, 16}, ExpertRow{"expert=2", 4, 16, 16}}) {
    const ToyMemory toy({toy_mixtral(), config, "default", row.mesh, compiler});
    const auto& layer = toy.block("layers");
    EXPECT_EQ(mib_of(layer, "routed tokens"), row.rows) << row.mesh;
    EXPECT_EQ(mib_of(layer, "routed tokens, expanded"), row.expanded) << row.mesh;
    EXPECT_EQ(mib_of(layer, "routed tokens, expanded, transposed"), row.transposed) << row.mesh;
    EXPECT_EQ(mib_of(layer, "expert output gradient, expanded"), row.expanded) << row.mesh;
    EXPECT_EQ(mib_of(layer, "expert output gradient, expanded, transposed"), row.transposed) << row.mesh;
    EXPECT_FALSE(meet(layer, "routed tokens", "routed tokens, expanded")) << "the copy stands in for it";
    EXPECT_TRUE(meet(layer, "routed tokens, expanded", "expert output gradient, expanded"))
        << "it waits for the gradients of wi_0 and wi_1";
    EXPECT_FALSE(meet(layer, "expert hidden, expanded", "expert hidden gradient")) << "wo's gradient comes first";
  }
}

// What weights' gradients read waits for the layer's end; not where rows go back to other devices, which comes first then.
TEST(DenseRaggedDot, LeavesWeightGradientsToTheEnd) {
  const Compiler first = with(toy_gpu(), Habit::ragged_dot_is_dense);
  const Compiler last = with(first, Habit::runs_expert_weight_gradients_last);
  TrainConfig config = toy_moe(toy_config(1, 1024), MoePath::ragged);
  config.megablox = false;
  const auto waits = [&](const char* mesh, const Compiler& compiler) {
    const ToyMemory toy({toy_mixtral(), config, "default", mesh, compiler});
    return meet(toy.block("layers"), "routed tokens, expanded", "query gradient");
  };
  EXPECT_TRUE(waits("fsdp=2", last));
  EXPECT_FALSE(waits("fsdp=2", first));
  EXPECT_FALSE(waits("expert=2", last));
}

// Cycles of two layers: what the weight gradients of both read is there when the second runs backward (recorded:
// gptoss20bx8_h100x8_fsdp8_full_notriton, ten copies). Of a scan of one layer each lets go of its own.
TEST(DenseRaggedDot, LeavesWeightGradientsToTheEndOfACycle) {
  TrainConfig config = toy_moe(toy_config(1, 1024), MoePath::ragged);
  config.megablox = false;
  Model cycles = toy_mixtral();
  cycles.decoder_block = decoder_block(DecoderBlockKind::gpt_oss);
  cycles.attention_pattern = {256, 1};
  const auto peak = [&](const Model& model, const Compiler& compiler) {
    return ToyMemory({model, config, "default", "fsdp=2", compiler}).use().peak().value;
  };
  const Compiler first = with(toy_gpu(), Habit::ragged_dot_is_dense);
  const Compiler last = with(first, Habit::runs_expert_weight_gradients_last);
  const std::int64_t of_cycles = peak(cycles, last) - peak(cycles, first);
  const std::int64_t of_layers = peak(toy_mixtral(), last) - peak(toy_mixtral(), first);
  EXPECT_GE((of_cycles - of_layers) >> 20, 32);
}

// Products of a library: one kernel writes the copies of the hidden rows and of both projections' gradients, and reads what
// they are made of.
TEST(DenseRaggedDot, WritesCopiesOfALayerTogetherForALibrary) {
  const Compiler fused = with(toy_gpu(), Habit::ragged_dot_is_dense);
  const Compiler library = with(fused, Habit::writes_product_operands);
  TrainConfig config = toy_moe(toy_config(1, 1024), MoePath::ragged);
  config.megablox = false;
  const auto together = [&](const Compiler& compiler) {
    const ToyMemory toy({toy_mixtral(), config, "default", "expert=2", compiler});
    return meet(toy.block("layers"), "expert hidden, expanded", "expert wi_0 output gradient, expanded") &&
           meet(toy.block("layers"), "expert wi_0 output", "expert wi_0 output gradient, expanded");
  };
  EXPECT_TRUE(together(library));
  EXPECT_FALSE(together(fused));
}

// 1024 tokens for 2 experts each, 512 wide in bf16: 2 MiB leave a device. In one node one exchange; over several those of
// all are gathered and exchanged inside each, and come back the other way round.
TEST(RaggedExchange, IsTakenApartOverNodes) {
  const Compiler compiler = with(plain_compiler(), Habit::decomposes_ragged_exchanges);
  ToyRun toy{toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "expert=8", compiler};
  const std::vector<std::string> whole = {"forward ragged-all-to-all expert 2 MiB x1"};
  EXPECT_EQ(exchanges(toy), whole);
  toy.between_nodes = "expert=4";
  EXPECT_THAT(exchanges(toy),
              ElementsAre("forward all-gather expert 8 MiB x1", "forward ragged-all-to-all expert 8 MiB x1"));
  toy.between_nodes = "expert=2";
  EXPECT_THAT(exchanges(toy),
              ElementsAre("forward all-gather expert 4 MiB x1", "forward ragged-all-to-all expert 4 MiB x1"));
}

Model with_gelu(Model model, const char* activation) {
  model.mlp_activations = {activation, "linear"};
  return model;
}

Model normed_behind_feed_forward() {
  Model model = toy_llama();
  model.use_post_ffw_norm = true;
  return model;
}

// 1024 tokens of 2048 hidden features in bf16, 4 MiB, from the feed-forward's recomputation to its gradient: where its
// output is computed again, too, because a norm reads it.
TEST(Gelu, KeepsItsTanh) {
  const auto kept = [](const Model& model, const Compiler& compiler) {
    const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=1", compiler});
    return mib_of(toy.block("layers"), "mlp hidden, tanh");
  };
  const Compiler keeps = with(toy_gpu(), Habit::keeps_tanh);
  EXPECT_EQ(kept(with_gelu(toy_llama(), "gelu"), keeps), 0) << "only gradients read it";
  EXPECT_EQ(kept(with_gelu(normed_behind_feed_forward(), "gelu"), keeps), 4);
  EXPECT_EQ(kept(with_gelu(normed_behind_feed_forward(), "silu"), keeps), 0);
  EXPECT_EQ(kept(with_gelu(normed_behind_feed_forward(), "gelu"), without(keeps, Habit::keeps_tanh)), 0);
}

// Cycles of three layers: of eight layers two cycles, and two that are left over, whose gradients wait for the loop.
TEST(LayersBehindAScan, LeaveTheirGradientsToTheEnd) {
  const auto gradients = [](std::int64_t layers, const Compiler& compiler) {
    Model model = toy_llama();
    model.decoder_block = decoder_block(DecoderBlockKind::gemma3);
    model.layers = layers;
    model.attention_pattern = {256, 2};
    return ToyMemory({model, toy_config(1, 1024), "default", "fsdp=8", compiler}).use().gradients.value;
  };
  const Compiler leaves = with(toy_gpu(), Habit::leaves_gradients_behind_scans);
  const Compiler sums = without(leaves, Habit::leaves_gradients_behind_scans);
  EXPECT_EQ(gradients(6, leaves), gradients(6, sums));
  const std::int64_t two = gradients(8, leaves) - gradients(8, sums), one = gradients(7, leaves) - gradients(7, sums);
  EXPECT_GT(one, 0);
  EXPECT_EQ(two, 2 * one);
}

// Of a device's 1024 tokens hidden rows and the gradients of both projections are 4 MiB each, the input of the projections
// and the gradient of the output 2 MiB.
TEST(LayersBehindAScan, LeaveWhatTheWeightGradientsOfAKeptFeedForwardRead) {
  const auto gradients = [](const char* remat, const Compiler& compiler) {
    Model model = toy_llama();
    model.decoder_block = decoder_block(DecoderBlockKind::gemma3);
    model.layers = 7;
    model.attention_pattern = {256, 2};
    const ToyMemory toy({model, toy_config(1, 1024, remat), "default", "fsdp=8", compiler});
    return gradients_behind_scan(toy.block("layers_local"), 2, toy.bound(), compiler);
  };
  const Compiler sums = toy_gpu();
  const Compiler last = with(sums, Habit::runs_cycle_weight_gradients_last);
  EXPECT_EQ(mib(gradients("minimal", last) - gradients("minimal", sums)), 16);
  EXPECT_EQ(gradients("full", last), gradients("full", sums)) << "computed again";
}

}  // namespace
}  // namespace shardplan
