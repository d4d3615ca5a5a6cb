// Of dense layers: norms and sums that have no buffer of their own, and what is cut out of stacks for attention's kernel.
#include <gmock/gmock.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

std::vector<Lifetime> lives(const ToyMemory& toy, const std::string& layers, const std::string& name) {
  const PartitionedBlock& block = toy.block(layers);
  std::vector<Lifetime> all;
  for (const Lifetime& life : block.lifetimes)
    if (describe(life.name, *block.block) == name) all.push_back(life);
  return all;
}

/// A layer of 1024 tokens: of 1024 features in bf16 2 MiB, of 2048 hidden ones 4 MiB.
ToyMemory layer(const Compiler& compiler, const char* remat = "full", const char* mesh = "fsdp=4") {
  return ToyMemory({toy_llama(), toy_config(1, 1024, remat), "default", mesh, compiler});
}

TEST(DenseLayers, ProductsComputeTheNormThatTheyRead) {
  const char* norm = "post_self_attention_layer_norm output";
  const char* residual = "residual after attention";
  const ToyMemory written = layer(toy_tpu()), computed = layer(with(toy_tpu(), Habit::computes_norms_where_read));
  ASSERT_EQ(lives(written, "layers", norm).size(), 1);
  EXPECT_EQ(mib(lives(written, "layers", norm)[0].bytes), 2);
  EXPECT_TRUE(lives(computed, "layers", norm).empty());
  EXPECT_FALSE(lives(computed, "layers", std::string(norm) + " gradient").empty()) << "what products add up has a buffer";
  EXPECT_TRUE(meet(lives(computed, "layers", residual)[0], lives(computed, "layers", "mlp/wi_0 output gradient")[0]))
      << "weight gradients compute the norm from it";
}

TEST(DenseLayers, ANormThatIsGatheredIsWritten) {
  const ToyMemory split = layer(with(with(toy_tpu(), Habit::computes_norms_where_read), Habit::runs_split_layers_as_read),
                                "full", "fsdp=2,tensor=2");
  EXPECT_FALSE(lives(split, "layers", "post_self_attention_layer_norm output").empty());
}

// The feed-forward's output has the gradient of the residual beside it until the norm's is added, when it is read no more.
TEST(DenseLayers, WhatIsAddedToAResidualSharesItsGradient) {
  const char* added = "mlp output gradient";
  const ToyMemory apart = layer(toy_tpu()), shared = layer(with(toy_tpu(), Habit::shares_gradients_of_sums));
  EXPECT_EQ(lives(apart, "layers", added).size(), 1);
  EXPECT_TRUE(lives(shared, "layers", added).empty());
  const Lifetime residual = lives(shared, "layers", "residual after attention gradient").at(0);
  EXPECT_TRUE(meet(residual, lives(shared, "layers", "mlp hidden gradient").at(0)));
}

TEST(DenseLayers, AGradientThatIsReadLaterThanTheSumIsOneOfItsOwn) {
  const Compiler last = with(with(toy_tpu(), Habit::shares_gradients_of_sums), Habit::runs_kept_weight_gradients_last);
  const std::vector<Lifetime> added = lives(layer(last, "minimal"), "layers", "mlp output gradient");
  ASSERT_EQ(added.size(), 1);
  EXPECT_GT(added[0].first, lives(layer(last, "minimal"), "layers", "mlp/wi_0 output gradient").at(0).first)
      << "from when the norm's gradient is added to the residual's";
}

TEST(DenseLayers, SavedOperandsOfAttentionAreCutOutOfTheirStacks) {
  const Compiler cuts = with(toy_tpu(), Habit::cuts_kernel_operands);
  for (const char* remat : {"save_qkv_proj", "save_dot_except_mlp", "qkv_proj_offloaded", "minimal"}) {
    const ToyMemory toy = layer(cuts, remat);
    ASSERT_EQ(lives(toy, "layers", "query, cut out").size(), 1) << remat;
    EXPECT_EQ(mib(lives(toy, "layers", "query, cut out")[0].bytes), 2) << remat;
    EXPECT_TRUE(meet(lives(toy, "layers", "query, cut out")[0], lives(toy, "layers", "mlp hidden gradient").at(0))) << remat;
    EXPECT_TRUE(lives(layer(toy_tpu(), remat), "layers", "query, cut out").empty()) << remat;
  }
  EXPECT_TRUE(lives(layer(cuts), "layers", "query, cut out").empty()) << "computed again";
}

TEST(DenseLayers, ThoseOfOtherLayersOfAnIterationDoNotWait) {
  Model model = toy_llama();
  model.layers = 6;
  model.attention_pattern = {256, 2};
  const ToyMemory toy({model, toy_config(1, 1024, "save_qkv_proj"), "default", "fsdp=4",
                       with(toy_tpu(), Habit::cuts_kernel_operands)});
  const PartitionedBlock& block = toy.block("layers_local");
  EXPECT_GE(lives(toy, "layers_local", "query, cut out").at(0).first, block.gradients_begin);
}

// A device's one sequence is split in two: 1024 queries of 8 heads of 128 in all are 4 MiB in float32.
TEST(Rings, AddUpInFloat32) {
  TrainConfig config = toy_config(1, 1024);
  config.context_parallel_strategy = ContextStrategy::ring;
  const ToyMemory toy({toy_llama(), config, "default", "fsdp=2,context=2", toy_tpu()});
  for (const char* sum : {"context gradient in float32", "query gradient, added up", "query gradient of a part"}) {
    ASSERT_EQ(lives(toy, "layers", sum).size(), 1) << sum;
    EXPECT_EQ(mib(lives(toy, "layers", sum)[0].bytes), 4) << sum;
    EXPECT_TRUE(meet(lives(toy, "layers", sum)[0], lives(toy, "layers", "key and value gradients on their way").at(0)));
  }
}

}  // namespace
}  // namespace shardplan
