// What waits outside of the loop over layers: copies of the weights, gradients, saved activations. toy_llama: a layer
// has 3 MLP weights of 2 Mi elements and 4 attention weights of 1 Mi: 10 Mi; 4 layers: 40 Mi. One sequence of 1024
// tokens of width 1024: 2 MiB in bf16. The head is [1024, 4096]: 4 Mi.
#include <gmock/gmock.h>

#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/state/optimizer_memory.hpp>
#include <cost_models/memory/stacked_weights.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using Change = std::function<void(TrainConfig&)>;

struct StackRow {
  std::string what, mesh;
  Compiler compiler;
  std::int64_t expected;
  Change change = [](TrainConfig&) {};
};

ToyMemory memory_of(const StackRow& row) {
  return ToyMemory({toy_llama(), with(toy_config(1, 1024), row.change), "default", row.mesh, row.compiler});
}

/// Two stages of one layer each, two repeats, four microbatches.
const Change circular = [](TrainConfig& c) { c.num_pipeline_microbatches = 4; };
const Change gathered_once = [](TrainConfig& c) { circular(c), c.pipeline_fsdp_ag_once = true; };
/// Both layers of a stage in one iteration.
const Change deep_stages = [](TrainConfig& c) { circular(c), c.num_layers_per_pipeline_stage = 2; };
Change two_each(const Change& change) {
  return [change](TrainConfig& c) { change(c), c.per_device_batch_size = 2; };
}
const Change unscanned = [](TrainConfig& c) { c.scan_layers = false; };

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

TEST(StackGradients, AreWrittenInTheDtypeOfTheWeightsByALoop) {
  const std::vector<StackRow> rows = {
      {"40 Mi in float32", "fsdp=1", toy_tpu(), 160},
      {"shards", "fsdp=4", toy_tpu(), 40},
      {"no loop: bf16", "fsdp=1", toy_tpu(), 80, unscanned},
      {"cast behind the loop, in bf16", "fsdp=1", with(toy_tpu(), Habit::narrows_cast_gradients), 80,
       [](TrainConfig& c) { c.grad_dtype = DType::bf16; }},
      {"or as they are added up", "fsdp=1", toy_tpu(), 160, [](TrainConfig& c) { c.grad_dtype = DType::bf16; }},
      {"microbatches are added first", "fsdp=1", with(toy_tpu(), Habit::narrows_cast_gradients), 160,
       [](TrainConfig& c) {
         c.grad_dtype = DType::bf16;
         c.gradient_accumulation_steps = 2;
       }},
      {"half of a stage's 20 Mi", "stage=2,fsdp=2", toy_tpu(), 40, circular},
      {"the stage's 20 Mi whole", "stage=2,fsdp=2", toy_tpu(), 80, gathered_once},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(stack_gradients(toy.block("layers"), toy.bound(), toy.config(), toy.compiler())), row.expected)
        << row.what;
  }
}

TEST(HeadLeftover, IsAGradientOrWhatItIsMadeOf) {
  const std::vector<StackRow> rows = {
      {"4 Mi in bf16", "fsdp=1", toy_tpu(), 8},
      {"scattered over 4", "fsdp=4", toy_tpu(), 2},
      {"all-reduced over a slice of 8: whole", "fsdp=8", toy_tpu(), 8},
      {"8 devices, but 4 sum: scattered, vocab over tensor", "fsdp=4,tensor=2", toy_tpu(), 1},
      {"deferred: 1024 tokens of 4096 logits and 1024 inputs", "fsdp=8", toy_gpu(), 10},
      {"tiles of the vocabulary leave gradients", "fsdp=8", toy_gpu(), 1,
       [](TrainConfig& c) { c.num_vocab_tiling = 4; }},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    const PartitionedBlock& head = toy.block("head");
    const Bytes left = toy.compiler().has(Habit::defers_head_gradient)
                           ? late_head_leftover(head, toy.bound(), toy.config(), toy.compiler())
                           : early_head_leftover(head, toy.bound(), toy.config(), toy.compiler());
    EXPECT_EQ(mib(left), row.expected) << row.what;
  }
}

// One table [4096, 1024] for lookup and head, 8 MiB in bf16; the logits' gradient [1024, 4096] takes 8 MiB too and keeps
// the head's input [1024, 1024] with it.
TEST(HeadLeftover, OfATiedModelIsTheTablesGradientOrTheLogits) {
  Model model = toy_llama();
  model.tied_embedding = true;
  const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=1", toy_tpu()});
  const PartitionedBlock& head = toy.block("head");
  EXPECT_EQ(mib(early_head_leftover(head, toy.bound(), toy.config(), toy.compiler())), 8);
  EXPECT_EQ(mib(late_head_leftover(head, toy.bound(), toy.config(), toy.compiler())), 8 + 2);
}

// Two devices share 4096 words: 2048 each are more than the model's 1024, and 2048 tokens of them take 8 MiB. Four have 1024
// each, no more. Where fsdp splits the weight it is gathered.
TEST(HeadLeftover, HasLogitsOfSplitWordsUntilTheLossIsComputed) {
  const auto left = [](const char* mesh, const Compiler& compiler) {
    const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", mesh, compiler});
    const PartitionedBlock& head = toy.block("head");
    return mib(early_head_leftover(head, toy.bound(), toy.config(), toy.compiler()));
  };
  const Compiler late = with(toy_tpu(), Habit::computes_loss_value_late);
  EXPECT_EQ(left("tensor=2", late), left("tensor=2", toy_tpu()) + 8);
  for (const char* mesh : {"tensor=4", "fsdp=2", "fsdp=2,tensor=2"})
    EXPECT_EQ(left(mesh, late), left(mesh, toy_tpu())) << mesh;
}

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

// Of four layers wo [8, 1024, 512], 64 features of a device, 2 MiB in float32: the kernel writes them into room for 128.
TEST(GradientsOfPasses, OfSortedExpertsLieAsTheirKernelWritesThem) {
  const auto sums = [](MoePath path, std::int64_t passes, const Compiler& compiler) {
    TrainConfig config = toy_moe(toy_config(1, 1024), path);
    config.gradient_accumulation_steps = passes;
    const ToyMemory toy({toy_mixtral(), config, "default", "fsdp=8", compiler});
    const PartitionedBlock& layers = toy.block("layers");
    return std::pair(mib(gradients_of_passes(layers, toy.bound(), toy.config(), compiler)),
                     mib(stack_gradients(layers, toy.bound(), toy.config(), compiler)));
  };
  const Compiler tiles = with(toy_tpu(), Habit::pads_to_tiles);
  const auto [sum, stack] = sums(MoePath::dropping, 2, tiles);
  EXPECT_EQ(sums(MoePath::ragged, 2, tiles), std::pair(sum + 4 * 2, stack + 4 * 2));
  EXPECT_EQ(sums(MoePath::ragged, 1, tiles), std::pair(std::int64_t{0}, stack));
  EXPECT_EQ(sums(MoePath::ragged, 2, toy_tpu()), sums(MoePath::dropping, 2, toy_tpu()));
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
  EXPECT_EQ(kept(true, 1, toy_mixtral()), 0) << "made late beside experts";
  EXPECT_EQ(kept(true, 1, toy_llama(), "tensor=4"), 0) << "words are split";
  keeps = toy_tpu();
  EXPECT_EQ(kept(true, 4), 0);
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
