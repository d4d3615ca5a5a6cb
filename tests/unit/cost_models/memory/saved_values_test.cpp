// What waits for the backward pass: activations in the layers' stacks, masks of one-hot ids.
#include <gmock/gmock.h>

#include <cost_models/memory/host_traffic.hpp>

#include "stack_rows.hpp"

namespace shardplan {
namespace {

TEST(SavedActivations, AreTheInputsOfIterationsAndWhatThePolicyNames) {
  const std::vector<StackRow> rows = {
      {"an input a layer", "fsdp=1", toy_tpu(), 8},
      {"query, key, value too", "fsdp=1", toy_tpu(), 32,
       [](TrainConfig& c) { c.saved = saved_by_policy("save_qkv_proj"); }},
      // A microbatch is one sequence: 9 iterations, shift and its copy, 2 microbatches of a stage, 4 in circular
      // storage.
      {"circular pipeline", "stage=2", toy_tpu(), 2 * (9 + 1 + 1 + 2 + 4), two_each(circular)},
      {"5 iterations of 2 layers, no circular storage", "stage=2", toy_tpu(), 2 * (5 * 2 + 1 + 1 + 2),
       two_each(deep_stages)},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(saved_activations(toy.block("layers"), toy.bound())), row.expected) << row.what;
  }
}

// gptoss20b_v5p32_savedotctx: 64 numbers a head take the room of 128. Of 8 heads and 1024 tokens 1 MiB, as tiles 2.
TEST(SavedActivations, OfShortHeadsTakeWholeTilesInTheStacks) {
  Model model = toy_llama();
  model.head_dim = 64;
  const Compiler packing = toy_tpu(), tiling = with(toy_tpu(), Habit::pads_to_tiles);
  const auto toy = [&](const char* policy, const Compiler& compiler) {
    return ToyMemory({model, toy_config(1, 1024, policy), "default", "fsdp=1", compiler});
  };
  const auto saved = [&](const Compiler& compiler) {
    const ToyMemory all = toy("save_qkv_proj", compiler);
    return mib(saved_activations(all.block("layers"), all.bound()));
  };
  EXPECT_EQ(saved(packing), 4 * (2 + 3));
  EXPECT_EQ(saved(tiling), 4 * (2 + 3 * 2));
  const auto moved = [&](const Compiler& compiler) {
    const ToyMemory all = toy("qkv_proj_offloaded", compiler);
    Bytes bytes;
    for (const Bytes block : host_traffic(all.bound(), all.blocks(), all.config()).activations) bytes += block;
    return mib(bytes);
  };
  EXPECT_EQ(moved(packing), 4 * 3);
  EXPECT_EQ(moved(tiling), 4 * 3 * 2);
}

// plan_qwen330ba3b_tpuv5p_32_s4096_meshset4: bf16[48,524288,192]{2,1,0:T(8,128)(2,1)} of 12,884,901,888 bytes. Of 1024
// tokens, two experts each, 2048 rows of 192 numbers take the room of 256: 1 MiB, not 0.75.
TEST(SavedActivations, OfExpertsRowsTakeWholeLanes) {
  Model model = toy_mixtral();
  model.moe_mlp = 192;
  const TrainConfig config = toy_moe(toy_config(1, 1024, "minimal"), MoePath::ragged);
  const auto saved = [&](const Compiler& compiler) {
    const ToyMemory toy({model, config, "default", "fsdp=1", compiler});
    std::int64_t kib = 0;
    for (const SavedValue& value : saved_values(toy.block("layers"), toy.bound()))
      if (toy.block("layers").block->tensors[value.tensor].name == "expert wi_0 output") kib += value.bytes.value >> 10;
    return kib;
  };
  EXPECT_EQ(saved(toy_tpu()), 768);
  EXPECT_EQ(saved(with(toy_tpu(), Habit::pads_to_tiles)), 1024);
}

TEST(SavedActivations, OfACycleAreItsInputOnly) {
  Model model = toy_llama();
  model.layers = 12;
  model.attention_pattern = {256, 5};  // five local layers, a global one
  const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=1", toy_tpu()});
  EXPECT_EQ(mib(saved_activations(toy.block("layers_local"), toy.bound())), 2 * 2);
  EXPECT_EQ(mib(saved_activations(toy.block("layers_global"), toy.bound())), 0);
  EXPECT_EQ(loops_of(toy.blocks()).size(), 3u);  // embedding, the cycle, head
}

// A byte for each of 1024 tokens and 4096 words.
TEST(LookupMasks, WaitForTheTablesGradientWhereTheyAreLarge) {
  Compiler keeps = with(toy_tpu(), Habit::keeps_lookup_masks);
  const auto kept = [&](bool one_hot, std::int64_t smallest, const Model& model = toy_llama(), const char* mesh = "fsdp=4") {
    keeps.smallest_kept_mask = Bytes{smallest << 20};
    TrainConfig config = toy_config(1, 1024);
    config.use_iota_embed = one_hot;
    const ToyMemory toy({model, config, "default", mesh, keeps});
    std::vector<HeldBuffer> held;
    toy.use({std::int64_t{95} << 30}, &held);
    const bool is_held = std::any_of(held.begin(), held.end(),
                                     [](const HeldBuffer& buffer) { return buffer.name == "mask of one-hot ids"; });
    const Bytes mask = kept_lookup_mask(toy.block("embedding"), toy.bound(), keeps);
    EXPECT_EQ(is_held, mask.value > 0);
    return mib(mask);
  };
  EXPECT_EQ(kept(true, 4), 4);
  EXPECT_EQ(kept(true, 5), 0) << "made where it is read";
  EXPECT_EQ(kept(false, 4), 0) << "rows are looked up";
  EXPECT_EQ(kept(true, 1, toy_mixtral()), 0) << "the head's gradient is early beside experts";
  EXPECT_EQ(kept(true, 1, toy_llama(), "tensor=4"), 0) << "words are split";
  keeps = toy_tpu();
  EXPECT_EQ(kept(true, 4), 0);
}

}  // namespace
}  // namespace shardplan
