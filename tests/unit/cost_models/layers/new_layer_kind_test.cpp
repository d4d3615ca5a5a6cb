// A layer kind joins: its mixer's own files, and one line in a list of branches. Nothing else knows of it, and weights,
// FLOPs and collectives follow.
#include <gmock/gmock.h>

#include <models/model_flops.hpp>
#include <models/parameter_count.hpp>
#include <models/programs/mixers/mixers.hpp>

#include "gated_linear_attention.hpp"
#include "../toy_layers.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;

/// toy_llama with another mixer: 1024 wide, 8 heads of 128, MLP of 2048.
Decoder gated_linear_decoder() {
  const LayerKind kind{"layers",
                       {{add_gated_linear_attention, HyperConnection::attention, "pre_self_attention_layer_norm", "",
                         "residual after attention"},
                        {add_dense_feed_forward, HyperConnection::feed_forward, "post_self_attention_layer_norm", "",
                         "layer output"}},
                       4};
  return {toy_llama(), {kind}};
}

TrainConfig one_sequence() {
  return toy_config(1, 1024);
}

// Five projections of 1024·1024, three MLP weights of 1024·2048, four layers, two tables of 4096·1024.
TEST(NewLayerKind, IsCounted) {
  const Program program = train_program(gated_linear_decoder(), one_sequence(), {});
  EXPECT_EQ(matrix_parameters(program), 4 * (5 * 1024 * 1024 + 3 * 1024 * 2048) + 2 * 4096 * 1024);
}

// A token adds key·value to its head's state and multiplies its query with it: 2·8·128·128 multiply-adds.
TEST(NewLayerKind, IsWorthItsProducts) {
  const Program program = train_program(gated_linear_decoder(), one_sequence(), {});
  const double weights = 4 * (5 * 1024 * 1024 + 3 * 1024 * 2048) + 4096 * 1024;
  EXPECT_DOUBLE_EQ(model_flops_per_token(program).value, 6 * weights + 6 * 4 * 2 * 8 * 128 * 128.0);
}

std::vector<std::string> state_lines(const std::string& mesh) {
  return lines(run({.model = toy_llama(), .config = one_sequence(), .mesh = mesh}, gated_linear_decoder()), "layers",
               "self_attention/state");
}

// Devices that share a sequence have a part of the state's sum each: 8 heads · 128 · 128 in bf16, 256 KiB for
// each of two sequences.
TEST(NewLayerKind, SumsTheStateOverASplitSequence) {
  EXPECT_THAT(state_lines("data=2"), testing::IsEmpty());
  EXPECT_THAT(state_lines("context=2"), testing::Contains("forward reduce context 512 KiB x1"));
}

}  // namespace
}  // namespace shardplan
