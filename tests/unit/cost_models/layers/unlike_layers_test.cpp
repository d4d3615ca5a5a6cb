// What layers that differ from their neighbours move and compute, on toys: 2 MiB a head projection, 4 MiB an MLP weight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cost_models/memory/turned_tables.hpp>
#include <models/model_flops.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

/// Two cycles of five local layers and a global one.
Model toy_gemma4() {
  Model model = toy_llama();
  model.decoder_block = decoder_block(DecoderBlockKind::gemma4);
  model.layers = 12;
  model.attention_pattern = {256, 5};
  model.share_kv_projections = true;
  model.global_kv_heads = 2;
  model.global_head_dim = 256;
  return model;
}

std::vector<std::string> moved_once(const std::string& size) {
  return {"forward all-gather fsdp " + size + " x1", "rematerialized_forward all-gather fsdp " + size + " x1",
          "backward reduce fsdp " + size + " x1"};
}

// [1024, 8, 128] for keys and values each; in global layers [1024, 2, 256] for both. Each layer of the loops inside the
// scan's iteration is recomputed alone, so no weight is gathered once more to reach the next.
TEST(Gemma4, ProjectsKeysAndValuesOfGlobalLayersOnce) {
  const ToyStep step = run({toy_gemma4(), toy_config(1, 1024), "default", "fsdp=8",
                            with(plain_compiler(), Habit::gathers_again_in_cycles)});
  EXPECT_THAT(lines(step, "layers_local", "self_attention/key"), UnorderedElementsAreArray(moved_once("2 MiB")));
  EXPECT_THAT(lines(step, "layers_local", "self_attention/value"),
              UnorderedElementsAreArray(moved_once("2 MiB")));
  EXPECT_THAT(lines(step, "layers_global", "self_attention/key"), UnorderedElementsAreArray(moved_once("1 MiB")));
  EXPECT_THAT(lines(step, "layers_global", "self_attention/value"), IsEmpty());
}

/// Three layers with keys, then three that are lent some; two local layers a global one.
Model toy_gemma4_small() {
  Model model = toy_llama();
  model.decoder_block = decoder_block(DecoderBlockKind::gemma4_small);
  model.layers = 6;
  model.attention_pattern = {256, 2};
  model.kv_shared_layers = 3;
  model.use_double_wide_mlp = true;
  model.per_layer_dim = 128;
  model.per_layer_vocab = 2048;
  return model;
}

TEST(Gemma4Small, HasNoKeyProjectionWhereKeysAreLent) {
  TrainConfig config = toy_config(1, 1024);
  config.scan_layers = false;
  const ToyStep step =
      run({toy_gemma4_small(), config, "default", "fsdp=8", without(plain_compiler(), Habit::gathers_again_in_cycles)});
  EXPECT_THAT(lines(step, "layers_local", "self_attention/key"), UnorderedElementsAreArray(moved_once("2 MiB")));
  EXPECT_THAT(lines(step, "lent_layers_local", "self_attention/key"), IsEmpty());
  EXPECT_THAT(lines(step, "layers_local", "mlp/wi_0"), UnorderedElementsAreArray(moved_once("4 MiB")));
  EXPECT_THAT(lines(step, "lent_layers_local", "mlp/wi_0"), UnorderedElementsAreArray(moved_once("8 MiB")));
  EXPECT_THAT(lines(step, "lent_layers_global", "per_layer_projection"),
              UnorderedElementsAreArray(moved_once("256 KiB")));  // [128, 1024]
}

/// How often a weight's gather runs again in the backward pass.
std::vector<std::string> gathered_again(const Model& model, const std::string& block, const std::string& weight) {
  TrainConfig config = toy_config(1, 1024);
  config.scan_layers = false;
  const Compiler merges = without(plain_compiler(), Habit::gathers_again_in_cycles);
  const auto count = [&](const Compiler& compiler) {
    return lines(run({model, config, "default", "fsdp=8", compiler}), block, weight);
  };
  std::vector<std::string> more = count(plain_compiler());
  for (const std::string& line : count(merges)) std::erase(more, line);
  return more;
}

// Layers that nothing scans: behind the attention's output come two products of the feed-forward and two of the layer's own
// input. Behind wi_0 are three.
TEST(Gemma4Small, GathersAttentionsWeightsOnceMoreForTheirGradients) {
  const Model model = toy_gemma4_small();
  EXPECT_THAT(gathered_again(model, "layers_local", "self_attention/query"),
              testing::ElementsAre("rematerialized_forward all-gather fsdp 2 MiB x2"));
  EXPECT_THAT(gathered_again(model, "layers_local", "self_attention/out"),
              testing::ElementsAre("rematerialized_forward all-gather fsdp 2 MiB x2"));
  EXPECT_THAT(gathered_again(model, "layers_local", "mlp/wi_0"), IsEmpty());
}

// Without a norm behind the feed-forward its last product doesn't run again: three are behind query, key and value.
TEST(WrittenOutLayers, GatherAgainWhatIsFourProductsFromItsGradient) {
  Model normed = toy_llama();
  normed.decoder_block = decoder_block(DecoderBlockKind::gemma3);
  normed.layers = 2;
  normed.attention_pattern = {256, 1};
  normed.use_post_ffw_norm = true;
  EXPECT_THAT(gathered_again(normed, "layers_local", "self_attention/query"), testing::SizeIs(1));
  EXPECT_THAT(gathered_again(normed, "layers_local", "self_attention/out"), IsEmpty());
  EXPECT_THAT(gathered_again(toy_llama(), "layers", "self_attention/query"), IsEmpty());
}

// Rows for each layer, [2048, 6 * 128]: 192 columns a device of four lie along 2048 words, and the right way round in 256
// lanes: 0.5 Mi elements, of the table and both moments 2 MiB each, of the gradient in bf16 1 MiB.
TEST(Gemma4Small, TurnsTheTableOfRowsForEachLayerWhenItIsUpdated) {
  const auto updates = [](const char* mesh, const Compiler& compiler) {
    TrainConfig config = toy_config(1, 1024);
    config.scan_layers = false;
    const ToyMemory toy({toy_gemma4_small(), config, "default", mesh, compiler});
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
    for (const TurnedUpdate& update : turned_updates(toy.blocks(), toy.bound(), toy.config(), toy.compiler()))
      sizes.emplace_back(mib(update.gradient), mib(update.copies));
    return sizes;
  };
  const Compiler pads = with(toy_tpu(), Habit::pads_to_tiles);
  EXPECT_THAT(updates("fsdp=4", pads), testing::ElementsAre(testing::Pair(1, 6)));
  EXPECT_THAT(updates("fsdp=2", pads), testing::ElementsAre(testing::Pair(0, 0))) << "384 columns are three tiles";
  EXPECT_THAT(updates("fsdp=4", toy_tpu()), IsEmpty());
}

std::int64_t exchanged(const Model& model) {
  const ToyStep step =
      run({model, toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "expert=8"});
  return mebibytes(step, CollectiveKind::ragged_all_to_all, "expert", "layers/MoeBlock_0");
}

// Rows of 256 instead of 512 go to experts and back; expert weights are [8, 256, 1024].
TEST(Qwen3Custom, ExchangesNarrowerRows) {
  Model wide = toy_mixtral();
  wide.decoder_block = decoder_block(DecoderBlockKind::qwen3_custom_moe);
  wide.attention_output_dim = 512;
  Model narrow = wide;
  narrow.attention_output_dim = 256;
  EXPECT_GT(exchanged(narrow), 0);
  EXPECT_EQ(exchanged(wide), 2 * exchanged(narrow));
  EXPECT_EQ(exchanged(wide), exchanged(toy_mixtral()));
  const ToyStep step = run({narrow, toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "fsdp=8"});
  EXPECT_THAT(lines(step, "layers", "MoeBlock_0/wi_0"), UnorderedElementsAreArray(moved_once("4 MiB")));
  EXPECT_THAT(lines(step, "layers", "layer_up_projection"),
              UnorderedElementsAreArray(moved_once("256 KiB")));  // [256, 512]
}

/// Two cycles: a dense layer in chunks of 256, one with experts in chunks, a dense one in chunks, one with experts that
/// sees all.
Model toy_llama4() {
  Model model = toy_mixtral();
  model.decoder_block = decoder_block(DecoderBlockKind::llama4);
  model.layers = 8;
  model.top_k = 1;
  model.interleave_moe_step = 2;
  model.cycle_interval = 4;
  model.attention_pattern = {256, 3};
  return model;
}

// Of 1024 positions a query of the three chunked layers sees 128 on average, one of the fourth 512; 8 heads of 64 + 64.
TEST(Llama4, AttendsInChunks) {
  const auto attention = [](const Model& model) {
    TrainConfig config = toy_moe(toy_config(1, 1024), MoePath::ragged);
    return model_flops_per_token(train_program(model, config, {})).value;
  };
  Model whole = toy_llama4();
  whole.attention_pattern.window = 1024;
  EXPECT_DOUBLE_EQ(attention(whole) - attention(toy_llama4()), 6 * 6 * 8 * (64 + 64) * (512.0 - 128.0));
}

TEST(Llama4, HasExpertsInEverySecondLayer) {
  const ToyStep step = run({toy_llama4(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "fsdp=8",
                            without(plain_compiler(), Habit::gathers_again_in_cycles)});
  EXPECT_THAT(lines(step, "moe_layers_1", "MoeBlock_0/wi_0"), UnorderedElementsAreArray(moved_once("8 MiB")));
  EXPECT_THAT(lines(step, "dense_layers_2", "MoeBlock_0"), IsEmpty());
  EXPECT_THAT(lines(step, "dense_layers_2", "mlp/wi_0"), UnorderedElementsAreArray(moved_once("1 MiB")));
}

}  // namespace
}  // namespace shardplan
