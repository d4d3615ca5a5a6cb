// Experts that a pipeline gathers in front of its loops. toy_mixtral: of each layer 8 x 3 x 512 x 1024 elements of experts;
// four layers in two stages of two, fsdp=2: a device holds 8 MiB of each of 3 x 2 weights in bf16, 4 MiB as shards.
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/stacked_weights.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

struct Stages {
  MoePath path = MoePath::ragged;
  std::int64_t layers_per_stage = 2;  ///< in one iteration
  DType weights = DType::f32;
};

ToyMemory stages(const Stages& of, const Compiler& compiler) {
  TrainConfig config = toy_moe(toy_config(1, 1024), of.path);
  config.num_pipeline_microbatches = 4;
  config.num_layers_per_pipeline_stage = of.layers_per_stage;
  config.weight_dtype = of.weights;
  return ToyMemory({toy_mixtral(), config, "default", "stage=2,fsdp=2", compiler});
}

/// How often a stage's experts are gathered in a phase, all weights together.
std::int64_t gathers(const ToyMemory& toy, Phase phase) {
  const PartitionedBlock& layers = toy.block("layers");
  std::int64_t runs = 0;
  for (const Collective& c : layers.collectives)
    if (c.kind == CollectiveKind::all_gather && c.phase == phase && c.parameter && mib(c.bytes) == 8) runs += c.executions;
  return runs;
}

Bytes copies(const ToyMemory& toy) {
  return stacked_weight_copies(toy.block("layers"), toy.bound(), toy.config(), toy.compiler());
}

// Five iterations of two layers; once each where they are held.
TEST(HeldExperts, AreGatheredOnceForEachLayer) {
  const Compiler holds = with(toy_tpu(), Habit::holds_experts_of_stages);
  EXPECT_EQ(gathers(stages({}, toy_tpu()), Phase::forward), 3 * 2 * 5);
  EXPECT_EQ(gathers(stages({}, toy_tpu()), Phase::rematerialized_forward), 3 * 2 * 5);
  EXPECT_EQ(gathers(stages({}, holds), Phase::forward), 3 * 2);
  EXPECT_EQ(gathers(stages({}, holds), Phase::rematerialized_forward), 0);
}

TEST(HeldExperts, AreNotThoseOfStagesThatRunSeveralTimesNorOfTheDroppingPath) {
  const Compiler holds = with(toy_tpu(), Habit::holds_experts_of_stages);
  for (const Stages& of : {Stages{MoePath::ragged, 1}, Stages{MoePath::dropping, 2}})
    EXPECT_EQ(copies(stages(of, holds)), copies(stages(of, toy_tpu())));
}

TEST(HeldExperts, TakeThePlaceOfTheirShards) {
  const Compiler holds = with(toy_tpu(), Habit::holds_experts_of_stages);
  EXPECT_EQ(mib(copies(stages({}, holds)) - copies(stages({}, toy_tpu()))), 3 * 2 * (8 - 4));
}

// 7x: what isn't cast is there until the forward loop is through, and gathered again in the backward loop.
TEST(HeldExperts, ThatAreNotCastAreGatheredAgain) {
  const Stages bf16{.weights = DType::bf16};
  Compiler again = with(toy_tpu(), Habit::holds_experts_of_stages);
  EXPECT_EQ(mib(copies(stages(bf16, again))), 3 * 2 * 8);
  again.habits.add(Habit::gathers_held_experts_again);
  const ToyMemory toy = stages(bf16, again);
  EXPECT_EQ(gathers(toy, Phase::forward), 3 * 2);
  EXPECT_EQ(gathers(toy, Phase::rematerialized_forward), 3 * 2 * 5);
  EXPECT_EQ(mib(copies(toy)), 0);
  const auto moments = moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual);
  EXPECT_EQ(moments.front().name(), "forward of layers");
  EXPECT_EQ(mib(moments.front().copies), 3 * 2 * 8);
}

// A device's share of two layers: 3 x 4 MiB of experts in each, and attention's weights.
TEST(HeldExperts, LieBesideCopiesOfTheirStage) {
  const Stages bf16{.weights = DType::bf16};
  Compiler plain = with(toy_tpu(), Habit::makes_stacks_layer_major);
  const Bytes none = copies(stages(bf16, plain));
  plain.habits.add(Habit::copies_uncast_stages);
  const ToyMemory toy = stages(bf16, plain);
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(mib(copies(toy)), 3 * 2 * 4 + 2);
}

// Where weight gradients end an iteration the other layer's sums wait for it: 8 MiB each, and the shards of 4.
TEST(HeldExperts, WaitWithTheirSumsForTheIterationsEnd) {
  Compiler holds = with(toy_tpu(), Habit::holds_experts_of_stages);
  const auto most = [](const ToyMemory& toy) {
    Bytes temporaries;
    for (const Moment& moment : moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual))
      if (moment.name() == "backward of layers") temporaries = std::max(temporaries, moment.temporaries);
    return temporaries;
  };
  const Bytes in_turn = most(stages({}, holds));
  holds.habits.add(Habit::runs_cycle_weight_gradients_last);
  EXPECT_EQ(mib(most(stages({}, holds)) - in_turn), 3 * (8 + 4));
}

}  // namespace
}  // namespace shardplan
