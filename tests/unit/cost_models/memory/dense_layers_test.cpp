// Of dense layers: norms and sums that have no buffer of their own, and what is cut out of stacks for attention's kernel.
#include <gmock/gmock.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

/// A layer of 1024 tokens: of 1024 features in bf16 2 MiB, of 2048 hidden ones 4 MiB.
ToyMemory layer(const Compiler& compiler, const char* remat = "full", const char* mesh = "fsdp=4") {
  return ToyMemory({toy_llama(), toy_config(1, 1024, remat), "default", mesh, compiler});
}

TEST(DenseLayers, ProductsComputeTheNormThatTheyRead) {
  const char* norm = "post_self_attention_layer_norm output";
  const char* residual = "residual after attention";
  const ToyMemory written = layer(toy_tpu()), computed = layer(with(toy_tpu(), Habit::computes_norms_where_read));
  ASSERT_EQ(lives_of(written, "layers", norm).size(), 1);
  EXPECT_EQ(mib(lives_of(written, "layers", norm)[0].bytes), 2);
  EXPECT_TRUE(lives_of(computed, "layers", norm).empty());
  EXPECT_FALSE(lives_of(computed, "layers", std::string(norm) + " gradient").empty()) << "what products add up has a buffer";
  EXPECT_TRUE(meet(lives_of(computed, "layers", residual)[0], lives_of(computed, "layers", "mlp/wi_0 output gradient")[0]))
      << "weight gradients compute the norm from it";
}

TEST(DenseLayers, ANormThatIsGatheredIsWritten) {
  const ToyMemory split = layer(with(with(toy_tpu(), Habit::computes_norms_where_read), Habit::runs_split_layers_as_read),
                                "full", "fsdp=2,tensor=2");
  EXPECT_FALSE(lives_of(split, "layers", "post_self_attention_layer_norm output").empty());
}

// The feed-forward's output has the gradient of the residual beside it until the norm's is added, when it is read no more.
TEST(DenseLayers, WhatIsAddedToAResidualSharesItsGradient) {
  const char* added = "mlp output gradient";
  const ToyMemory apart = layer(toy_tpu()), shared = layer(with(toy_tpu(), Habit::shares_gradients_of_sums));
  EXPECT_EQ(lives_of(apart, "layers", added).size(), 1);
  EXPECT_TRUE(lives_of(shared, "layers", added).empty());
  const Lifetime residual = lives_of(shared, "layers", "residual after attention gradient").at(0);
  EXPECT_TRUE(meet(residual, lives_of(shared, "layers", "mlp hidden gradient").at(0)));
}

TEST(DenseLayers, AGradientThatIsReadLaterThanTheSumIsOneOfItsOwn) {
  const Compiler last = with(with(toy_tpu(), Habit::shares_gradients_of_sums), Habit::runs_kept_weight_gradients_last);
  const std::vector<Lifetime> added = lives_of(layer(last, "minimal"), "layers", "mlp output gradient");
  ASSERT_EQ(added.size(), 1);
  EXPECT_GT(added[0].first, lives_of(layer(last, "minimal"), "layers", "mlp/wi_0 output gradient").at(0).first)
      << "from when the norm's gradient is added to the residual's";
}

TEST(DenseLayers, SavedOperandsOfAttentionAreCutOutOfTheirStacks) {
  const Compiler cuts = with(toy_tpu(), Habit::cuts_kernel_operands);
  for (const char* remat : {"save_qkv_proj", "save_dot_except_mlp", "qkv_proj_offloaded", "minimal"}) {
    const ToyMemory toy = layer(cuts, remat);
    ASSERT_EQ(lives_of(toy, "layers", "query, cut out").size(), 1) << remat;
    EXPECT_EQ(mib(lives_of(toy, "layers", "query, cut out")[0].bytes), 2) << remat;
    const Lifetime cut = lives_of(toy, "layers", "query, cut out")[0];
    EXPECT_TRUE(meet(cut, lives_of(toy, "layers", "mlp hidden gradient").at(0))) << remat;
    EXPECT_TRUE(lives_of(layer(toy_tpu(), remat), "layers", "query, cut out").empty()) << remat;
  }
  EXPECT_TRUE(lives_of(layer(cuts), "layers", "query, cut out").empty()) << "computed again";
}

TEST(DenseLayers, ThoseOfOtherLayersOfAnIterationDoNotWait) {
  Model model = toy_llama();
  model.layers = 6;
  model.attention_pattern = {256, 2};
  const ToyMemory toy({model, toy_config(1, 1024, "save_qkv_proj"), "default", "fsdp=4",
                       with(toy_tpu(), Habit::cuts_kernel_operands)});
  const PartitionedBlock& block = toy.block("layers_local");
  EXPECT_GE(lives_of(toy, "layers_local", "query, cut out").at(0).first, block.gradients_begin);
}

// A device's one sequence is split in two: 1024 queries of 8 heads of 128 in all are 4 MiB in float32.
TEST(Rings, AddUpInFloat32) {
  TrainConfig config = toy_config(1, 1024);
  config.context_parallel_strategy = ContextStrategy::ring;
  const ToyMemory toy({toy_llama(), config, "default", "fsdp=2,context=2", toy_tpu()});
  for (const char* sum : {"context gradient in float32", "query gradient, added up", "query gradient of a part"}) {
    ASSERT_EQ(lives_of(toy, "layers", sum).size(), 1) << sum;
    EXPECT_EQ(mib(lives_of(toy, "layers", sum)[0].bytes), 4) << sum;
    const Lifetime added = lives_of(toy, "layers", sum)[0];
    EXPECT_TRUE(meet(added, lives_of(toy, "layers", "key and value gradients on their way").at(0)));
  }
}

// AQT's int8: a gradient [1024 tokens, 2048] in 32 bits, 8 MiB, twice: for the input's and for the weight's. Drawn where
// they are read, or all in front of the backward pass where sums run beside compute. Qwix rounds to the nearest number.
TEST(DenseLayers, RandomBitsOfNarrowedGradientsWaitWhereSumsRunBesideCompute) {
  Compiler alone = toy_tpu();
  alone.overlap.asynchronous.set(CollectiveKind::reduce_scatter, false);
  const auto bits = [](const Compiler& compiler, bool qwix) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=2", compiler};
    toy.config.quantization = Quantization::int8;
    toy.config.use_qwix_quantization = qwix;
    return lives_of(ToyMemory(toy), "layers", "mlp/wi_0 output gradient, random bits");
  };
  const auto drawn = bits(alone, false), early = bits(toy_tpu(), false);
  ASSERT_EQ(drawn.size(), 2u);
  ASSERT_EQ(early.size(), 2u);
  EXPECT_EQ(mib(drawn.front().bytes), 8);
  EXPECT_FALSE(meet(drawn.front(), drawn.back()));
  EXPECT_TRUE(meet(early.front(), early.back()));
  EXPECT_EQ(early.front().first, early.back().first);
  EXPECT_TRUE(bits(toy_tpu(), true).empty());
}

}  // namespace
}  // namespace shardplan
