// The gated delta rule: what a device computes of it, and that whole sequences of a head stay together.
#include <gmock/gmock.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::IsEmpty;

/// Cycles of three linear layers (2 key heads, 4 value heads of 64, chunks of 16) and one of attention; 4 experts.
Model toy_qwen3_next() {
  Model model = toy_mixtral();
  model.name = "qwen3_next";
  model.decoder_block = decoder_block(DecoderBlockKind::qwen3_next);
  model.layers = 8;
  model.cycle_interval = 4;
  model.shared_experts = 1;
  model.gdn_num_key_heads = 2;
  model.gdn_num_value_heads = 4;
  model.gdn_key_head_dim = model.gdn_value_head_dim = 64;
  model.gdn_chunk_size = 16;
  return model;
}

ToyRun toy(const std::string& mesh) {
  return {.model = toy_qwen3_next(), .config = toy_moe(toy_config(1, 1024), MoePath::ragged), .mesh = mesh};
}

double delta_rule_flops(const ToyRun& toy) {
  const ToyMemory memory(toy);
  const auto& layer = memory.block("linear_layers");
  for (std::size_t i = 0; i < layer.work().size(); ++i)
    if (layer.block->operations[i].kind == OpKind::delta_rule) return layer.work()[i].forward.value;
  throw std::logic_error("test: no delta rule");
}

// 1024 tokens · 4 heads. A token and head: 2·16·64 products in bf16, keys and queries with the chunk's keys; and in
// float32, six passes each, 16·16 to invert the triangle, 16·(64 + 64) for values and keys, 16·64 for the scores,
// 3·64·64 with the state.
TEST(DeltaRule, WorksInChunks) {
  constexpr double token = 2 * 16 * 64 + 6 * (16 * 16 + 16 * (64 + 64) + 16 * 64 + 3 * 64 * 64);
  EXPECT_DOUBLE_EQ(delta_rule_flops(toy("data=2")), 2 * 1024 * 4 * token);
  EXPECT_DOUBLE_EQ(delta_rule_flops(toy("tensor=2")), 2 * 2 * 1024 * 2 * token);  // half the heads of two sequences
}

// Products of keys, [chunks, 16, 16] of each head: the chunks of a sequence along 128 lanes, 64 of them or 32. In bf16
// 4 heads · 16 · 16 · 128 are 256 KiB for a sequence.
TEST(DeltaRule, KeepsProductsOfKeysWithTheChunksAlongTheLanes) {
  const auto kept = [](double sequences, std::int64_t length) {
    ToyRun run = toy("fsdp=1");
    run.config.per_device_batch_size = sequences;
    run.config.max_target_length = length;
    run.compiler = with(toy_tpu(), Habit::pads_to_tiles);
    return lives_of(ToyMemory(run), "linear_layers", "delta rule, kept of each chunk").front().bytes;
  };
  EXPECT_EQ((kept(2, 512) - kept(1, 1024)).value, 256 << 10);
}

// Each device has its own sequences, or its own heads.
TEST(DeltaRule, MovesNothingItself) {
  for (const char* mesh : {"data=2", "fsdp=2", "tensor=2"})
    EXPECT_THAT(lines(run(toy(mesh)), "linear_layers", "attention/delta_rule"), IsEmpty()) << mesh;
}

// The state passes along the sequence: under context parallelism each device works on all of it. Two sequences of
// 1024 tokens, 2 key heads of 2·64 + 2·2·64 numbers: 3 MiB in bf16.
TEST(DeltaRule, TakesTheSequenceWhole) {
  EXPECT_THAT(lines(run(toy("context=2")), "linear_layers", "attention/in_proj_qkvz"),
              Contains("forward all-gather context 3 MiB x1"));
  EXPECT_DOUBLE_EQ(delta_rule_flops(toy("context=2")), 2 * delta_rule_flops(toy("data=2")));
}

// [4, 2, 2·64 + 2·64] of the convolution, which nothing splits: 4 KiB summed in every layer.
TEST(DeltaRule, SumsTheConvolutionWhole) {
  EXPECT_THAT(lines(run(toy("fsdp=2")), "linear_layers", "attention/conv1d"),
              testing::ElementsAre("backward reduce fsdp 4 KiB x1"));
}

}  // namespace
}  // namespace shardplan
