// Gradients that wait outside of the loop over layers: stacks, sums over passes, what the head leaves.
#include <gmock/gmock.h>

#include <cost_models/memory/gradient_memory.hpp>

#include "stack_rows.hpp"

namespace shardplan {
namespace {

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

}  // namespace
}  // namespace shardplan
