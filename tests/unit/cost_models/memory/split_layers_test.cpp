// Layers whose features tensor=2 splits: two sequences of 1024 tokens on both devices. Of all 1024 features in bf16 they
// take 4 MiB, of half of them 2.
#include <gtest/gtest.h>

#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/partition/logits.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

Compiler as_read() { return with(toy_tpu(), Habit::runs_split_layers_as_read); }

ToyMemory llama(const char* mesh, const char* remat, const Compiler& compiler, bool tied = false) {
  Model model = toy_llama();
  model.tied_embedding = tied;
  return ToyMemory({model, toy_config(1, 1024, remat), "default", mesh, compiler});
}

std::vector<Lifetime> named(const PartitionedBlock& block, const std::string& words) {
  std::vector<Lifetime> found;
  for (const Lifetime& life : block.lifetimes)
    if (describe(life.name, *block.block).find(words) != std::string::npos) found.push_back(life);
  return found;
}

// save_out_proj: what follows attention can be had without it.
TEST(SplitLayers, AttentionRunsAgainBehindTheFeedForward) {
  const auto waits = [](const char* mesh, const char* remat, const Compiler& compiler) {
    const ToyMemory toy = llama(mesh, remat, compiler);
    const PartitionedBlock& layer = toy.block("layers");
    return meet(named(layer, "context").front(), named(layer, "mlp/wi_0 output").front());
  };
  EXPECT_FALSE(waits("tensor=2", "save_out_proj", as_read()));
  EXPECT_TRUE(waits("tensor=2", "save_out_proj", toy_tpu()));
  EXPECT_TRUE(waits("fsdp=2", "save_out_proj", as_read()));
  EXPECT_TRUE(waits("tensor=2", "full", as_read())) << "the residual is made of it";
}

// Half of the 1024 features of queries, and of 2048 hidden ones: 2 and 4 MiB, of which nothing else runs again.
TEST(SplitLayers, HoldWhatWasMovedToTheHost) {
  const ToyMemory toy = llama("tensor=2", "minimal_offloaded", as_read());
  const PartitionedBlock& layer = toy.block("layers");
  EXPECT_EQ(mib(named(layer, "query, from the host").at(0).bytes), 2);
  EXPECT_EQ(mib(named(layer, "mlp/wi_0 output, from the host").at(0).bytes), 4);
  for (const Lifetime& one : named(layer, "from the host"))
    for (const Lifetime& other : named(layer, "from the host")) EXPECT_TRUE(meet(one, other));
  EXPECT_TRUE(named(llama("fsdp=2", "minimal_offloaded", as_read()).block("layers"), "from the host").empty());
  EXPECT_TRUE(named(llama("tensor=2", "minimal_offloaded", toy_tpu()).block("layers"), "from the host").empty());
}

// Value's and key's, 4 MiB each before they are summed over both devices; query's product adds them. Of gate and projection
// the second product adds the first one's.
TEST(SplitLayers, HoldTwoOfThreeGradientsOfWhatAttentionReads) {
  const ToyMemory toy = llama("tensor=2", "full", as_read());
  const PartitionedBlock& layer = toy.block("layers");
  const auto attention = named(layer, "gradient from self_attention/");
  ASSERT_EQ(attention.size(), 2U);
  EXPECT_TRUE(meet(attention[0], attention[1]));
  EXPECT_EQ(mib(attention[1].bytes), 4);
  EXPECT_EQ(named(layer, "gradient from mlp/").size(), 1U);
  const ToyMemory other = llama("tensor=2", "full", toy_tpu());
  EXPECT_EQ(named(other.block("layers"), "gradient from self_attention/").size(), 1U);
}

// The gradient of the experts' output is gathered for that of their rows, and read again by wo's, which runs last.
TEST(SplitLayers, ExpertsKeepTheirOutputsGradientAsItWasGathered) {
  const auto waits = [](const Compiler& compiler) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "tensor=2",
                         with(compiler, Habit::runs_expert_weight_gradients_last)});
    const PartitionedBlock& layer = toy.block("layers");
    return meet(named(layer, "expert output gradient, gathered").at(0), named(layer, "routed tokens gradient").at(0));
  };
  EXPECT_TRUE(waits(as_read()));
  EXPECT_FALSE(waits(toy_tpu()));
}

// Five local layers and a global one share an iteration: for the gradients of gate, projection and `wo` their input and the
// gradient of their output are gathered again; in layers that are alone both are near.
TEST(SplitLayers, OfACycleGatherForTheFeedForwardsWeightGradientsAgain) {
  const auto gathered = [](bool cycle, const Compiler& compiler) {
    Model model = toy_llama();
    model.layers = 12;
    if (cycle) model.attention_pattern = {256, 5};
    const ToyMemory toy({model, toy_config(1, 1024), "default", "tensor=2", with(compiler, Habit::gathers_again_in_cycles)});
    return named(toy.block(cycle ? "layers_local" : "layers"), "mlp output gradient, gathered").size();
  };
  EXPECT_EQ(gathered(true, as_read()), 2U);
  EXPECT_EQ(gathered(true, toy_tpu()), 1U);
  EXPECT_EQ(gathered(false, as_read()), 1U);
}

// Rows that tensor_sequence splits, likewise: the gradient of wo's rows for the input's in both layers, for the weight's
// again in the second.
TEST(SplitLayers, RowsOfACycleAreGatheredAgainForWeightGradients) {
  const auto runs = [](const Compiler& compiler) {
    Model model = toy_llama();
    model.layers = 2;
    model.attention_pattern = {256, 1};
    const ToyMemory toy({model, toy_config(1, 1024), "default", "tensor_sequence=2", compiler});
    std::int64_t gathers = 0;
    for (const char* name : {"layers_local", "layers_global"}) {
      const PartitionedBlock& layers = toy.block(name);
      for (const Collective& c : layers.collectives)
        if (c.kind == CollectiveKind::all_gather && c.cause == Cause::gradient_layout && c.operation >= 0 &&
            layers.block->operations[c.operation].module == Module::mlp)
          gathers += c.executions;
    }
    return gathers;
  };
  EXPECT_EQ(runs(without(toy_tpu(), Habit::gathers_again_in_cycles)), 2);
  EXPECT_EQ(runs(with(toy_tpu(), Habit::gathers_again_in_cycles)), 3);
}

// Twelve layers are two iterations: the gradient of an output is gathered for the activation's in each layer, and for the
// weight's in all but the first of an iteration, whose backward pass is near the step's end. What the recomputation hands on
// to the next layer (gate and projection under a norm) is far in that one, too.
TEST(SplitLayers, OfACycleShareGathersInTheFirst) {
  Model model = toy_llama();
  model.layers = 12;
  model.attention_pattern = {256, 5};
  const Compiler compiler = with(as_read(), Habit::gathers_again_in_cycles);
  const auto gathers = [&](const char* block, Module module, Cause cause, const char* remat) {
    const ToyMemory toy({model, toy_config(1, 1024, remat), "default", "tensor=2", compiler});
    const PartitionedBlock& layers = toy.block(block);
    std::int64_t runs = 0;
    for (const Collective& c : layers.collectives)
      if (c.kind == CollectiveKind::all_gather && c.cause == cause && c.phase != Phase::forward && c.operation >= 0 &&
          layers.block->operations[c.operation].module == module)
        runs += c.executions;
    return runs;
  };
  EXPECT_EQ(gathers("layers_local", Module::attention, Cause::gradient_layout, "full"), 10 + 8);
  EXPECT_EQ(gathers("layers_local", Module::mlp, Cause::gradient_layout, "full"), 10 + 8);
  EXPECT_EQ(gathers("layers_global", Module::attention, Cause::gradient_layout, "full"), 2 + 2);
  EXPECT_EQ(gathers("layers_local", Module::mlp, Cause::operand_layout, "full"), 10 + 10);
  EXPECT_EQ(gathers("layers_local", Module::attention, Cause::operand_layout, "save_qkv_proj"), 10) << "for weights alone";
}

// What weight gradients read waits for the backward pass of all six layers of an iteration, not of each.
TEST(SplitLayers, OfACycleKeepWhatLateWeightGradientsRead) {
  Model model = toy_llama();
  model.layers = 12;
  model.attention_pattern = {256, 5};
  Compiler late = with(as_read(), Habit::runs_weight_gradients_beside_collectives);
  late.overlap.window = 1;
  const ToyMemory toy({model, toy_config(1, 1024), "default", "tensor=2", late});
  const PartitionedBlock& local = toy.block("layers_local");
  ASSERT_GT(local.late_gradients_begin, 0);
  const Bytes apart = working_set(local, local.backward_begins);
  const Bytes together = working_set(loops_of(toy.blocks()).at(1), toy.bound(), toy.config(), late);
  EXPECT_GE(together, apart * 2) << "five layers' operands beside one layer's work";
}

// A scheduler that hides collectives behind any kernel leaves for that what is summed over devices; of a library's products
// all.
TEST(SplitLayers, LeaveWeightGradientsThatAreSummed) {
  const auto late = [](const char* mesh, const Compiler& compiler) {
    return llama(mesh, "full", compiler).block("layers").late_gradients_begin > 0;
  };
  const Compiler fused = with(toy_gpu(), Habit::runs_weight_gradients_beside_collectives);
  EXPECT_TRUE(late("fsdp=2,tensor=2", fused));
  EXPECT_FALSE(late("tensor=2", fused));
  EXPECT_TRUE(late("tensor=2", with(fused, Habit::writes_product_operands)));
}

// 2048 tokens of 2048 words are 8 MiB, of the 1024 features that the head gathered 4, of its half 2.
TEST(SplitLayers, KeepTheGatheredInputOfAHeadThatWaits) {
  const auto left = [](const Compiler& compiler) {
    const ToyMemory toy = llama("tensor=2", "full", compiler);
    return mib(late_head_leftover(toy.block("head"), toy.bound(), toy.config(), toy.compiler()));
  };
  EXPECT_EQ(left(as_read()), 8 + 4);
  EXPECT_EQ(left(with(toy_tpu(), Habit::runs_weight_gradients_beside_collectives)), 8 + 4);
  EXPECT_EQ(left(toy_tpu()), 8 + 2);
}

// 2048 words times 2048 tokens for each of 1024 features: 4096.
TEST(WaitingLogits, AndTheirGradientExistWhereItIsAKernels) {
  const auto left = [](double largest) {
    Compiler compiler = with(as_read(), Habit::computes_loss_value_late);
    compiler.largest_waiting_logits = largest;
    const ToyMemory toy = llama("tensor=2", "full", compiler, true);
    return mib(late_head_leftover(toy.block("head"), toy.bound(), toy.config(), toy.compiler()));
  };
  EXPECT_EQ(left(0), 8 + 4) << "any are computed in the products";
  EXPECT_EQ(left(4096), 8 + 4);
  EXPECT_EQ(left(4095), 8 + 8 + 4);
}

// Each of two devices' worth of fsdp has its own 2048 tokens.
TEST(WaitingLogits, OfACapWaitBesideAGatheredWeight) {
  const auto waiting = [](bool capped) {
    Model model = toy_llama();
    model.caps_logits = capped;
    const Compiler compiler = with(as_read(), Habit::computes_capped_loss_value_late);
    const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=2,tensor=2", compiler});
    const PartitionedBlock& head = toy.block("head");
    return mib(logits_for_loss_value(*head.block, head.flow(), head.specs(), *toy.bound().mesh, compiler));
  };
  EXPECT_EQ(waiting(true), 8);
  EXPECT_EQ(waiting(false), 0);
}

// 2048 tokens of 2048 words. Where the compiler has it for whole slices all devices have to share the words.
TEST(WaitingLogits, MayWaitWhereAllDevicesShareTheWords) {
  const auto waiting = [](const char* mesh, std::int64_t from_devices) {
    Compiler compiler = with(as_read(), Habit::computes_loss_value_late);
    if (from_devices > 0) compiler.slice_sizes[Habit::computes_loss_value_late] = {from_devices, {}};
    const ToyMemory toy = llama(mesh, "full", compiler);
    const PartitionedBlock& head = toy.block("head");
    return mib(logits_for_loss_value(*head.block, head.flow(), head.specs(), *toy.bound().mesh, compiler));
  };
  EXPECT_EQ(waiting("tensor=2", 2), 8);
  EXPECT_EQ(waiting("tensor=2", 4), 0);
  EXPECT_EQ(waiting("data=2,tensor=2", 0), 8);
  EXPECT_EQ(waiting("data=2,tensor=2", 2), 0);
}

// The product of a tied head's gradient adds it to the table's where no sum over tokens is between, capped logits or not.
TEST(WaitingLogits, OfACapWaitForATiedHeadsGradientWhereNoAxisSplitsTokens) {
  const auto deferred = [](const char* mesh) {
    Model model = toy_llama();
    model.caps_logits = true;
    model.tied_embedding = true;
    const Compiler compiler = with(as_read(), Habit::takes_list_order);
    const ToyMemory toy({model, toy_config(1, 1024), "default", mesh, compiler});
    return is_head_gradient_deferred(toy.block("head"), toy.bound(), toy.config(), compiler);
  };
  EXPECT_TRUE(deferred("tensor=2"));
  EXPECT_FALSE(deferred("fsdp=2"));
}

}  // namespace
}  // namespace shardplan
