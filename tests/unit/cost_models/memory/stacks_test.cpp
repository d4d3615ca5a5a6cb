// Copies of the layers' weights, and ZeRO-1's of all weights (stack_rows.hpp).
#include <gmock/gmock.h>

#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/state/optimizer_memory.hpp>
#include <cost_models/memory/stacked_weights.hpp>

#include "stack_rows.hpp"

namespace shardplan {
namespace {

// plan_gemma34b_tpu7x_64: f32[20,5,10240] for each of five local layers, f32[20,10240] for each of the four behind the scan.
TEST(StackedWeights, AreAnArrayForEachPlaceOfTheCycle) {
  Block block;
  block.layers = 30;
  block.layers_per_cycle = 5;
  PipelineShape pipeline;
  TrainConfig config;
  EXPECT_EQ(layers_in_an_array(block, pipeline, config), 6);
  Block loop = block, written_out = block, staged = block;
  loop.own_loop = true;
  EXPECT_EQ(layers_in_an_array(loop, pipeline, config), 30);
  written_out.beside_scan = true;
  EXPECT_EQ(layers_in_an_array(written_out, pipeline, config), 1);
  staged.in_pipeline = true;
  pipeline.stages = 3;
  EXPECT_EQ(layers_in_an_array(staged, pipeline, config), 2);
  config.scan_layers = false;
  EXPECT_EQ(layers_in_an_array(block, {}, config), 1);
}

// Two repeats of four stages: products read slices of the stack, which came back from its trip as it was. At the optimizer
// gradients are where the stages split the repeats, twice as large. 7x reads the stack so, and cuts each iteration's out.
TEST(StackedWeights, GatheredOnceAreReadAsTheyLie) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=4,fsdp=2"};
  toy.model.layers = 8;
  toy.config.num_pipeline_microbatches = 4;
  const auto gathered = [](const ToyMemory& memory) { return lives_of(memory, "layers", "mlp/wi_0, gathered").size(); };
  const auto copies = [](const ToyMemory& memory) {
    return mib(stacked_weight_copies(memory.block("layers"), memory.bound(), memory.config(), memory.compiler()));
  };
  EXPECT_GT(gathered(ToyMemory(toy)), 0u);
  toy.config.pipeline_fsdp_ag_once = true;
  const ToyMemory once(toy);
  EXPECT_EQ(gathered(once), 0u);
  EXPECT_EQ(copies(once), 2 * 20);
  toy.compiler.habits.add(Habit::permutes_before_gathers);
  EXPECT_EQ(copies(ToyMemory(toy)), 2 * 2 * 20 + 2 * 20);
  const auto moments = moments_of(once.blocks(), once.bound(), once.config(), once.compiler(), HeadGradient::habitual);
  const Bytes stack = stack_gradients(once.block("layers"), once.bound(), once.config(), once.compiler());
  EXPECT_GE(moments.back().gradients, stack * 2);
}

TEST(StackedWeights, ExistAgainWhereTheLoopWantsThemDifferently) {
  const std::vector<StackRow> rows = {
      {"cast: 40 Mi in bf16", "fsdp=1", toy_tpu(), 80},
      {"cast shards", "fsdp=4", toy_tpu(), 20},
      {"nothing to cast", "fsdp=1", toy_tpu(), 0, [](TrainConfig& c) { c.weight_dtype = DType::bf16; }},
      {"no loop", "fsdp=1", toy_tpu(), 0, unscanned},
      {"transposed in float32", "fsdp=4", toy_gpu(), 40},
      {"products read layers as they lie", "tensor=4", toy_gpu(), 0},
      {"a pipeline's wo and out only: 3 Mi of 10 a layer, 2 layers, half each", "stage=2,fsdp=2", toy_gpu(), 12,
       circular},
      {"a stage's 20 Mi whole in bf16", "stage=2,fsdp=2", toy_tpu(), 40, gathered_once},
      {"and in float32", "stage=2,fsdp=2", toy_gpu(), 80, gathered_once},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(stacked_weight_copies(toy.block("layers"), toy.bound(), toy.config(), toy.compiler())), row.expected)
        << row.what;
  }
}

// Weights of four layers that are stored in bf16 as they are multiplied: the feed-forward's 6 Mi a layer lie apart, their
// number filling tiles, and attention's output, 1 Mi, whatever its number; queries, keys and values are turned in the loop.
TEST(StackedWeights, ThatAreNotCastAreMadeLayerMajor) {
  const auto copied = [](std::int64_t layers, const Change& change, const char* mesh = "fsdp=1") {
    ToyRun toy{toy_llama(), with(toy_config(1, 1024), change), "default", mesh, toy_tpu()};
    toy.compiler.habits.add(Habit::makes_stacks_layer_major);
    toy.compiler.habits.add(Habit::narrows_float32_operands);
    toy.model.layers = layers;
    const ToyMemory memory(toy);
    return mib(stacked_weight_copies(memory.block("layers"), memory.bound(), memory.config(), memory.compiler()));
  };
  const auto bf16 = [](TrainConfig& c) { c.weight_dtype = DType::bf16; };
  EXPECT_EQ(copied(4, bf16), 4 * (6 + 1) * 2);
  EXPECT_EQ(copied(4, bf16, "fsdp=4"), (6 + 1) * 2);
  EXPECT_EQ(copied(3, bf16), 3 * 2) << "three layers fill no tiles";
  EXPECT_EQ(copied(4, [](TrainConfig& c) { c.dtype = DType::f32; }), 4 * (6 + 1) * 2) << "narrowed";
  EXPECT_EQ(copied(4, [](TrainConfig&) {}), 4 * 10 * 2) << "cast";
}

// Eight local layers of each of three cycles are eight arrays of three layers, which fill no tiles, and not one of 24.
TEST(StackedWeights, OfACycleAreArraysOfAsManyLayersAsCycles) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=1", with(toy_tpu(), Habit::makes_stacks_layer_major)};
  toy.model.layers = 27;
  toy.model.attention_pattern = {256, 8};
  toy.config.weight_dtype = DType::bf16;
  const ToyMemory memory(toy);
  const auto copied = [&](const char* block) {
    return mib(stacked_weight_copies(memory.block(block), memory.bound(), memory.config(), memory.compiler()));
  };
  EXPECT_EQ(copied("layers_local"), 24 * 2) << "attention's output alone";
  EXPECT_EQ(copied("layers_global"), 3 * 2);
}

TEST(StackedWeights, AWindowOfARepeatIsCutFromASecondCopy) {
  const Change per_repeat = [](TrainConfig& c) { circular(c), c.pipeline_fsdp_ag_per_repeat = true; };
  const ToyMemory toy = memory_of({"", "stage=2,fsdp=2", toy_tpu(), 0, per_repeat});
  const auto& layers = toy.block("layers");
  EXPECT_EQ(mib(stacked_weight_copies(layers, toy.bound(), toy.config(), toy.compiler())), 2 * 20);
  // Of two layers of 10 Mi: shards in float32, and all of them in bf16 before the scatter.
  EXPECT_EQ(mib(stack_gradients(layers, toy.bound(), toy.config(), toy.compiler())), 40 + 40);
}

const Change zero1 = [](TrainConfig& c) { c.shard_optimizer_over_data = true; };
const Change ahead_of_time = [](TrainConfig& c) { zero1(c), c.program = StepProgram::train_compile; };
const Change linen = [](TrainConfig& c) { zero1(c), c.enable_nnx = c.pure_nnx = c.pure_nnx_decoder = false; };
const Change accumulates = [](TrainConfig& c) { zero1(c), c.gradient_accumulation_steps = 2; };

// 40 Mi of layers, 4 Mi each of embedding and head: 192 MiB in float32.
TEST(Zero1, KeepsWholeWeightsBesideTheShards) {
  const std::vector<StackRow> rows = {
      {"off", "data=2", toy_tpu(), 0},
      {"one data shard", "fsdp=2", toy_tpu(), 0, zero1},
      {"gathered at the start of the step", "data=2", toy_tpu(), 192, zero1},
      {"copied", "data=2", toy_tpu(), 192, ahead_of_time},
      {"not copied", "data=2", without(toy_tpu(), Habit::copies_weights_for_update), 0, ahead_of_time},
      // wo, out and the table, whose first dim data has for itself: 16 Mi, over 16 devices 4 MiB.
      {"copied if data has a dim for itself", "data=2,fsdp=16", toy_tpu(), 4, ahead_of_time},
      {"their shards alone, of 64 columns that don't lie along the lanes", "data=2,fsdp=16",
       with(toy_tpu(), Habit::pads_to_tiles), 2, ahead_of_time},
      {"Linen on a compiler that casts first has its stacks", "data=2", toy_tpu(), 0, linen},
      {"and on one that doesn't", "data=2", toy_gpu(), 192, linen},
      {"in the compute dtype where gradients accumulate", "data=2", toy_tpu(), 96, accumulates},
      {"cast for them, with no data to gather over", "fsdp=2", toy_tpu(), 48, accumulates},
      {"a stage's half of the layers", "stage=2,data=2", toy_tpu(), 80 + 32,
       [](TrainConfig& c) { gathered_once(c), zero1(c); }},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(gathered_parameters(toy.blocks(), toy.bound(), toy.config(), toy.compiler())), row.expected)
        << row.what;
  }
}

TEST(Zero1, HoldsUpdatesOfAllWeights) {
  const std::vector<StackRow> rows = {
      {"off", "data=2", toy_tpu(), 0},
      {"shards beside what was gathered", "data=2", toy_tpu(), 96 + 192, zero1},
      {"shards, all gathered", "data=2", toy_tpu(), 96 + 192, ahead_of_time},
      {"shards alone", "data=2", toy_tpu(), 96, linen},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(updates_in_flight(toy.blocks(), toy.bound(), toy.config(), toy.compiler())), row.expected) << row.what;
  }
}

// 48 Mi in float32 are 192 MiB: 48 of them on a device, updated. wi_0 and wi_1 (8 Mi each), query, key, value and the head
// (4 Mi each) have data before fsdp: 2 x 128 MiB, 64 of them wi_0's; half of the other 16 Mi were gathered.
TEST(Zero1, MixedUpdatesAreWholeTwice) {
  const Change in_passes = [](TrainConfig& c) { zero1(c), c.gradient_accumulation_steps = 2; };
  for (const StackRow& row : std::vector<StackRow>{{"data alone", "data=2", toy_tpu(), 0, zero1},
                                         {"fsdp alone", "fsdp=2", toy_tpu(), 0, zero1},
                                         {"shards are updated", "data=2,fsdp=2", toy_tpu(), 0, in_passes}}) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(mixed_updates(toy.blocks(), toy.bound(), toy.config(), toy.compiler()).together), 0) << row.what;
  }
  const ToyMemory toy = memory_of({"", "data=2,fsdp=2", toy_tpu(), 0, zero1});
  const MixedUpdates mixed = mixed_updates(toy.blocks(), toy.bound(), toy.config(), toy.compiler());
  EXPECT_EQ(mib(mixed.together), 2 * 128 + 48 + 32);
  EXPECT_EQ(mib(mixed.in_turn), 2 * 128 - 64);
}

TEST(Zero1, SumsGradientsIntoShardsUnlessALoopComesBetween) {
  const std::vector<StackRow> rows = {
      {"whole", "data=2", toy_tpu(), 160},
      {"shards", "data=2", toy_tpu(), 80, zero1},
      {"whole, in the compute dtype", "data=2", toy_tpu(), 80, accumulates},
      {"a stage's, whole", "stage=2,data=2", toy_tpu(), 80, [](TrainConfig& c) { circular(c), zero1(c); }},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(stack_gradients(toy.block("layers"), toy.bound(), toy.config(), toy.compiler())), row.expected)
        << row.what;
  }
}

// 48 Mi of parameters, two moments of them.
TEST(Zero1, TheTrainingLoopKeepsParametersInShardsToo) {
  const auto arguments_of = [](const Change& change) {
    const MemoryUse use = memory_of({"", "data=2", toy_tpu(), 0, change}).use();
    return std::pair(mib(use.parameters), mib(use.optimizer));
  };
  EXPECT_EQ(arguments_of([](TrainConfig&) {}), std::pair(192L, 384L));
  EXPECT_EQ(arguments_of(ahead_of_time), std::pair(192L, 192L));
  EXPECT_EQ(arguments_of(zero1), std::pair(96L, 192L));
  EXPECT_EQ(arguments_of(linen), std::pair(96L, 192L));
}

// Whole weights on every device: those of experts, multiplied expert by expert, lie layer by layer; others, and rows of
// experts one after another, are read as they lie. Four layers of 8 x 3 x 512 x 1024 in float32.
TEST(StackedWeights, OfExpertsThatNobodyGathersAreCopiedForBatchedProducts) {
  const auto copied = [](MoePath path) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(1, 1024), path), "default", "data=2", toy_gpu()});
    return mib(stacked_weight_copies(toy.block("layers"), toy.bound(), toy.config(), toy.compiler()));
  };
  EXPECT_EQ(copied(MoePath::dropping), 4 * 8 * 3 * 2);
  EXPECT_EQ(copied(MoePath::ragged), 0);
}

// Of two layers in a stage one copies two of its experts' three weights, 8 x 512 x 1024 in float32 over four devices, 4 MiB
// each; a device's one expert lies as products read it.
TEST(StackedWeights, OfAStagesExpertsAreTurnedButInOneLayer) {
  const auto copied = [](const char* mesh, MoePath path, const Compiler& compiler = toy_gpu()) {
    TrainConfig config = toy_moe(toy_config(1, 1024), path);
    config.megablox = false;
    deep_stages(config);
    const ToyMemory toy({toy_mixtral(), config, "default", mesh, compiler});
    return mib(stacked_weight_copies(toy.block("layers"), toy.bound(), toy.config(), toy.compiler()));
  };
  const auto dropped = copied("stage=2,expert=4", MoePath::dropping), ragged = copied("stage=2,expert=4", MoePath::ragged);
  EXPECT_EQ(dropped - ragged, 2 * 4);
  EXPECT_EQ(copied("stage=2,expert=4", MoePath::ragged, with(toy_gpu(), Habit::ragged_dot_is_dense)), dropped);
  EXPECT_EQ(copied("stage=2,expert=8", MoePath::dropping), copied("stage=2,expert=8", MoePath::ragged));
}

// A device's one expert: wo [1, 1024, 512], gathered over fsdp along its last dim, is turned; wi_0 and wi_1 [1, 512, 1024],
// gathered along the one behind the layers, lie as they are read. Four layers of 512 x 1024 / 2 in float32.
TEST(StackedWeights, AreTurnedWhereALaterDimIsGathered) {
  const auto copied = [](const char* mesh) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::dropping), "default", mesh, toy_gpu()});
    return stacked_weight_copies(toy.block("layers"), toy.bound(), toy.config(), toy.compiler());
  };
  const Bytes attention = copied("data=2,expert=8");  // of which fsdp splits in two, too
  EXPECT_EQ(mib(copied("fsdp=2,expert=8") * 2 - attention), 2 * 4);
}

}  // namespace
}  // namespace shardplan
