// What waits outside of the loop over layers: copies of the weights, gradients, saved activations. toy_llama: a layer
// has 3 MLP weights of 2 Mi elements and 4 attention weights of 1 Mi: 10 Mi; 4 layers: 40 Mi. One sequence of 1024
// tokens of width 1024: 2 MiB in bf16. The head is [1024, 4096]: 4 Mi.
#include <gmock/gmock.h>

#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/stacked_weights.hpp>

#include "memory_toys.hpp"

namespace shardplan {
namespace {

using Change = std::function<void(TrainConfig&)>;

struct Row {
  std::string what, mesh;
  CompilerHabits habits;
  std::int64_t expected;
  Change change = [](TrainConfig&) {};
};

ToyMemory memory_of(const Row& row) {
  return ToyMemory({toy_llama(), with(toy_config(1, 1024), row.change), "default", row.mesh, row.habits});
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

TEST(StackedWeights, ExistAgainWhereTheLoopWantsThemDifferently) {
  const std::vector<Row> rows = {
      {"cast: 40 Mi in bf16", "fsdp=1", toy_tpu(), 80},
      {"cast shards", "fsdp=4", toy_tpu(), 20},
      {"nothing to cast", "fsdp=1", toy_tpu(), 0, [](TrainConfig& c) { c.weight_dtype = DType::bf16; }},
      {"no loop", "fsdp=1", toy_tpu(), 0, unscanned},
      {"transposed in float32", "fsdp=4", toy_gpu(), 40},
      {"a pipeline's wo and out only: 3 Mi of 10 a layer, 2 layers, half each", "stage=2,fsdp=2", toy_gpu(), 12,
       circular},
      {"a stage's 20 Mi whole in bf16", "stage=2,fsdp=2", toy_tpu(), 40, gathered_once},
      {"and in float32", "stage=2,fsdp=2", toy_gpu(), 80, gathered_once},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(stacked_weight_copies(toy.block("layers"), toy.bound(), toy.config(), toy.habits())), row.expected)
        << row.what;
  }
}

TEST(StackGradients, AreWrittenInTheDtypeOfTheWeightsByALoop) {
  const std::vector<Row> rows = {
      {"40 Mi in float32", "fsdp=1", toy_tpu(), 160},
      {"shards", "fsdp=4", toy_tpu(), 40},
      {"no loop: bf16", "fsdp=1", toy_tpu(), 80, unscanned},
      {"half of a stage's 20 Mi", "stage=2,fsdp=2", toy_tpu(), 40, circular},
      {"the stage's 20 Mi whole", "stage=2,fsdp=2", toy_tpu(), 80, gathered_once},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(stack_gradients(toy.block("layers"), toy.bound(), toy.config())), row.expected) << row.what;
  }
}

TEST(HeadLeftover, IsAGradientOrWhatItIsMadeOf) {
  const std::vector<Row> rows = {
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
    EXPECT_EQ(mib(head_leftover(toy.block("head"), toy.bound(), toy.config(), toy.habits())), row.expected) << row.what;
  }
}

TEST(SavedActivations, AreTheInputsOfIterationsAndWhatThePolicyNames) {
  const std::vector<Row> rows = {
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

TEST(SavedActivations, OfACycleAreItsInputOnly) {
  Model model = toy_llama();
  model.layers = 12;
  model.attention_pattern = {256, 5};  // five local layers, a global one
  const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=1", toy_tpu()});
  EXPECT_EQ(mib(saved_activations(toy.block("layers_local"), toy.bound())), 2 * 2);
  EXPECT_EQ(mib(saved_activations(toy.block("layers_global"), toy.bound())), 0);
  EXPECT_EQ(loops_of(toy.blocks()).size(), 3u);  // embedding, the cycle, head
}

TEST(Updates, AreGatheredUnderZero1) {
  const Change zero1 = [](TrainConfig& c) { c.shard_optimizer_over_data = true; };
  const std::vector<Row> rows = {
      {"no ZeRO-1", "data=2", toy_tpu(), 0},
      {"40 Mi in float32", "data=2", toy_tpu(), 160, zero1},
      {"nothing to gather", "fsdp=2", toy_tpu(), 0, zero1},
      {"20 Mi whole, two halves on their way", "stage=2,data=2", toy_tpu(), 80 + 80,
       [&](TrainConfig& c) { gathered_once(c), zero1(c); }},
  };
  for (const auto& row : rows) {
    const ToyMemory toy = memory_of(row);
    EXPECT_EQ(mib(updates_in_flight(toy.block("layers"), toy.bound(), toy.config())), row.expected) << row.what;
  }
}

}  // namespace
}  // namespace shardplan
