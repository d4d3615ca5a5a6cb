// Quantized products of one dense layer, against what XLA:TPU compiled for the same small model on 8 devices (MaxText
// e591f30cb, fsdp=8). Weights of the toy in bf16: wi_0, wi_1, wo 4 MiB; query, key, value, out 2 MiB. A channel's scale
// is one bf16 number: 2 KiB for 1024 channels, 4 KiB for 2048.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cost_models/memory/state/static_memory.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr Bytes big{64 * 1024};

ToyRun quantized(Quantization quantization, bool qwix, const std::string& mesh = "fsdp=8") {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh};
  toy.config.quantization = quantization;
  toy.config.use_qwix_quantization = qwix;
  return toy;
}

ToyRun static_fp8(const std::string& mesh = "fsdp=8") {
  ToyRun toy = quantized(Quantization::fp8_full, true, mesh);
  toy.config.weight_quantization_calibration_method = toy.config.act_quantization_calibration_method = {
      true, "fixed,-224,224"};
  return toy;
}

// wo isn't recomputed; every input gradient gathers int8 weights on scales of its own.
TEST(NarrowProducts, OfAqtGatherInt8ForTheProductAndAgainForItsGradient) {
  EXPECT_THAT(lines(run(quantized(Quantization::int8, false)), "layers", "", big),
              UnorderedElementsAre("forward all-gather fsdp 2 MiB x3", "forward all-gather fsdp 1 MiB x4",
                                   "rematerialized_forward all-gather fsdp 2 MiB x2",
                                   "rematerialized_forward all-gather fsdp 1 MiB x4",
                                   "backward all-gather fsdp 2 MiB x3", "backward all-gather fsdp 1 MiB x4",
                                   "backward reduce fsdp 4 MiB x3", "backward reduce fsdp 2 MiB x4"));
}

// Forward the contracted dim of query, key, value, wi_0 and wi_1 is split over fsdp; that of out and wo isn't.
TEST(NarrowProducts, LookForTheLargestNumberOfSplitChannels) {
  const ToyStep step = run(quantized(Quantization::int8, false));
  EXPECT_THAT(lines(step, "layers", "query"), Contains("forward reduce fsdp 2 KiB x1"));
  EXPECT_THAT(lines(step, "layers", "wi_0"), Contains("forward reduce fsdp 4 KiB x1"));
  EXPECT_THAT(lines(step, "layers", "wo"), Not(Contains(HasSubstr("forward reduce"))));
  // The input's gradient contracts what wo makes, the weight's the tokens: its input's and its gradient's channels.
  EXPECT_THAT(lines(step, "layers", "wo", {1}),
              testing::IsSupersetOf({"backward reduce fsdp 4 KiB x2", "backward reduce fsdp 2 KiB x1"}));
}

// Narrow weights forward and once more recomputed, of which the gradients are wide (recorded: ll7x4_v5p8_fsdp8_intmp).
TEST(NarrowProducts, OfMixedPrecisionGatherInt8OnceAPass) {
  for (const bool activations : {true, false}) {
    ToyRun toy = quantized(Quantization::intmp, false);
    toy.config.quant_cfg_path.weight_bits = 8;
    if (activations) toy.config.quant_cfg_path.activation_bits = 8;
    toy.compiler = with(toy.compiler, Habit::gathers_narrow_heads_again);
    const auto all = lines(run(toy), "layers", "", big);
    EXPECT_THAT(all, UnorderedElementsAre("forward all-gather fsdp 2 MiB x3", "forward all-gather fsdp 1 MiB x4",
                                          "rematerialized_forward all-gather fsdp 2 MiB x3",
                                          "rematerialized_forward all-gather fsdp 1 MiB x4",
                                          "backward reduce fsdp 4 MiB x3", "backward reduce fsdp 2 MiB x4"));
  }
}

// A second copy of each weight for the gradient of what it multiplies, and no scale but a tensor's.
TEST(NarrowProducts, OfTransformerEngineGatherTheWeightTurnedForItsGradient) {
  const ToyStep step = run(quantized(Quantization::te_fp8_currentscaling, false));
  EXPECT_THAT(lines(step, "layers", "", big),
              UnorderedElementsAre("forward all-gather fsdp 2 MiB x3", "forward all-gather fsdp 1 MiB x4",
                                   "rematerialized_forward all-gather fsdp 2 MiB x2",
                                   "rematerialized_forward all-gather fsdp 1 MiB x4",
                                   "backward all-gather fsdp 2 MiB x3", "backward all-gather fsdp 1 MiB x4",
                                   "backward reduce fsdp 4 MiB x3", "backward reduce fsdp 2 MiB x4"));
  EXPECT_THAT(lines(step, "layers", "query"), Not(Contains("forward reduce fsdp 2 KiB x1")));
}

TEST(NarrowProducts, OfQwixGatherFloat8OnceAPass) {
  EXPECT_THAT(lines(run(static_fp8()), "layers", "", big),
              UnorderedElementsAre("forward all-gather fsdp 2 MiB x3", "forward all-gather fsdp 1 MiB x4",
                                   "rematerialized_forward all-gather fsdp 2 MiB x3",
                                   "rematerialized_forward all-gather fsdp 1 MiB x4",
                                   "backward reduce fsdp 4 MiB x3", "backward reduce fsdp 2 MiB x4"));
}

TEST(NarrowProducts, OfLongLayersGatherQueryKeyAndValueOnceMore) {
  ToyRun toy = static_fp8();
  toy.compiler = with(toy.compiler, Habit::gathers_narrow_heads_again);
  const auto all = lines(run(toy), "layers", "", big);
  EXPECT_THAT(all, Contains("rematerialized_forward all-gather fsdp 1 MiB x7"));
  EXPECT_THAT(all, Contains("rematerialized_forward all-gather fsdp 2 MiB x3"));
  toy.config.quantization = Quantization::none;
  EXPECT_THAT(lines(run(toy), "layers", "self_attention", big),
              Contains("rematerialized_forward all-gather fsdp 2 MiB x4"));
}

TEST(NarrowProducts, OnConstantScalesReduceTheGradientsAlone) {
  const ToyStep step = run(static_fp8());
  EXPECT_THAT(lines(step, "layers", "wi_0"), Not(Contains(HasSubstr("forward reduce"))));
  EXPECT_THAT(lines(step, "layers", "wi_0"), Contains("backward reduce fsdp 4 KiB x1"));
}

TEST(NarrowProducts, AreNotInEmbeddingAndHead) {
  for (const char* block : {"embedding", "head"})
    EXPECT_EQ(lines(run(static_fp8()), block), lines(run(quantized(Quantization::none, false)), block));
}

// 7 products x 3 histories of 1024 numbers, each with its scale, 4 bytes each: 86,100 bytes a layer.
TEST(NarrowProducts, OfFlaxKeepHistories) {
  const ToyMemory toy(quantized(Quantization::fp8, false));
  EXPECT_EQ(history_bytes(toy.block("layers"), toy.bound()), Bytes{4 * 86'100});
  EXPECT_EQ(history_bytes(toy.block("head"), toy.bound()), Bytes{0});
  EXPECT_EQ(toy.use().parameters.value,
            ToyMemory(quantized(Quantization::none, false)).use().parameters.value + 4 * 86'100);
}

TEST(NarrowProducts, OfFlaxShareOneFloat8Weight) {
  EXPECT_THAT(lines(run(quantized(Quantization::fp8, false)), "layers", "mlp", big),
              UnorderedElementsAre("forward all-gather fsdp 2 MiB x3", "rematerialized_forward all-gather fsdp 2 MiB x3",
                                   "backward reduce fsdp 4 MiB x3"));
}

// Expert weights enter the shard_map in bf16, 8 MiB; the rows are narrowed inside.
TEST(NarrowProducts, OfExpertsNarrowInsideOfTheShardMap) {
  ToyRun toy = static_fp8("fsdp=4,expert=2");
  toy.model = toy_mixtral();
  toy.config = toy_moe(toy.config, MoePath::ragged);
  EXPECT_THAT(lines(run(toy), "layers", "MoeBlock_0/wi_0", big), Contains("forward all-gather fsdp 4 MiB x1"));
  EXPECT_THAT(lines(run(toy), "layers", "self_attention/out", big), Contains("forward all-gather fsdp+expert 256 KiB x1"));
  toy.compiler = with(plain_compiler(), Habit::lays_out_products_by_size);
  EXPECT_THAT(lines(run(toy), "layers", "MoeBlock_0/wi_0", big), Contains("forward all-gather fsdp 4 MiB x1"));
}

// The largest number of a channel is looked for in what a device holds there: no sum over fsdp, as of a dense layer's.
TEST(NarrowProducts, OfExpertsHaveTheirOwnScales) {
  ToyRun toy = quantized(Quantization::int8, false, "fsdp=8");
  EXPECT_THAT(lines(run(toy), "layers", "wi_0"), Contains(HasSubstr("forward reduce fsdp")));
  toy.model = toy_mixtral();
  toy.config = toy_moe(toy.config, MoePath::ragged);
  toy.config.megablox = true;
  EXPECT_THAT(lines(run(toy), "layers", "MoeBlock_0/wi_0"), Not(Contains(HasSubstr("forward reduce"))));
}

}  // namespace
}  // namespace shardplan
