// Buffers of layers that share an iteration of the scan, and of those that no whole iteration has.
#include <gmock/gmock.h>

#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/moments.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

bool has_buffer(const ToyMemory& toy, const std::string& layers, const std::string& name) {
  const PartitionedBlock& block = toy.block(layers);
  return std::any_of(block.lifetimes.begin(), block.lifetimes.end(),
                     [&](const Lifetime& life) { return describe(life.name, *block.block) == name; });
}

TEST(Cycles, HiddenRowsOfLayersThatLeadOnHaveNoBufferWhereProductsFuseThem) {
  const auto cycle = [](const Compiler& compiler) {
    return ToyMemory({cycle_of_three(), toy_config(1, 1024), "default", "fsdp=4", compiler});
  };
  const ToyMemory written = cycle(toy_tpu()), fused = cycle(with(toy_tpu(), Habit::fuses_hidden_rows));
  for (const char* name : {"mlp hidden", "mlp hidden gradient"}) {
    EXPECT_TRUE(has_buffer(written, "layers_local", name)) << name;
    EXPECT_FALSE(has_buffer(fused, "layers_local", name)) << name;
    EXPECT_TRUE(has_buffer(fused, "layers_global", name)) << name << ": its output isn't computed again";
  }
  EXPECT_TRUE(has_buffer(fused, "layers_local", "mlp/wi_0 output gradient"));
}

// Of a device's 1024 tokens gradients of gate and projection are 4 MiB each. They wait for the backward pass of all three
// layers, but where memory is short.
TEST(Cycles, WeightGradientsThatRunLastDoSoBehindAllLayersOfAnIteration) {
  const Compiler waits = with(with(toy_tpu(), Habit::runs_cycle_weight_gradients_last),
                              Habit::runs_weight_gradients_beside_collectives);
  const Compiler last = with(waits, Habit::frees_under_pressure);
  const auto loop_of = [](const Compiler& compiler, bool pressed) {
    const ToyMemory toy({cycle_of_three(), toy_config(1, 1024), "default", "fsdp=4", compiler});
    std::vector<PartitionedBlock> blocks{toy.block("layers_local"), toy.block("layers_global")};
    for (PartitionedBlock& block : blocks)
      if (pressed) block.lifetimes = block.pressed, block.weight_gradients_last = false;
    return working_set(Loop{&blocks[0], &blocks[1]}, toy.bound(), toy.config(), compiler);
  };
  EXPECT_GT(mib(loop_of(last, false)), mib(loop_of(toy_tpu(), false)));
  EXPECT_EQ(mib(loop_of(last, true)), mib(loop_of(toy_tpu(), false)));
  EXPECT_EQ(mib(loop_of(waits, false)), mib(loop_of(last, false)));
  const ToyMemory heedless({cycle_of_three(), toy_config(1, 1024), "default", "fsdp=4", waits});
  EXPECT_TRUE(heedless.block("layers_local").pressed.empty()) << "a scheduler that doesn't mind";
}

// Behind a peeled loop: of each of three layers both projections' gradients, 4 MiB each, and the hidden rows, or, where
// products compute these themselves, both projections in their place.
TEST(Cycles, PeeledOffALoopLeaveAllWeightGradientsToTheEnd) {
  const auto left = [](const Compiler& compiler, HeadGradient head) {
    const TrainConfig config = toy_config(1, 1024, "qkv_proj_offloaded");
    const ToyMemory toy({cycle_of_three(), config, "default", "fsdp=4", compiler});
    std::vector<Moment> found;
    for (Moment& moment : moments_of(toy.blocks(), toy.bound(), toy.config(), compiler, head))
      if (moment.in_turn.value > 0 && moment.name() == "backward of layers_global") found.push_back(moment);
    return found;
  };
  const Compiler peels = with(toy_tpu(), Habit::peels_offloading_loops);
  const auto written = left(peels, HeadGradient::late);
  const auto fused = left(with(peels, Habit::fuses_hidden_rows), HeadGradient::late);
  ASSERT_EQ(written.size(), 1U);
  ASSERT_EQ(fused.size(), 1U);
  EXPECT_GE(mib(written[0].temporaries), 3 * 3 * 4);
  EXPECT_EQ(mib(fused[0].temporaries - written[0].temporaries), 3 * 4);
  EXPECT_TRUE(left(peels, HeadGradient::early).empty());
  EXPECT_TRUE(left(toy_tpu(), HeadGradient::late).empty());
}

// 4096 tokens of the ring, 512 features, two experts each, which take a tile of 8: 64 MiB in float32.
TEST(Cycles, RowsOfARingWaitInFloat32WhereTheyComeFromTheHost) {
  const auto waiting = [](const char* policy, std::int64_t layers, bool wide) {
    Model model = toy_mixtral();
    model.layers = 6;
    if (layers > 1) model.attention_pattern = {256, static_cast<int>(layers) - 1};
    TrainConfig config = toy_moe(toy_config(1, 1024, policy), MoePath::ring);
    config.float32_weight_sum = wide;
    const Compiler tiles = with(toy_tpu(), Habit::pads_to_tiles);
    const ToyMemory toy({model, config, "default", "expert=4", tiles});
    const auto lives = lives_of(toy, layers > 1 ? "layers_local" : "layers", "expert output in float32");
    return lives.empty() ? 0 : mib(lives.front().bytes);
  };
  EXPECT_EQ(waiting("minimal_offloaded", 3, true), 64);
  EXPECT_EQ(waiting("minimal_offloaded", 3, false), 0);
  EXPECT_EQ(waiting("minimal_offloaded", 1, true), 0);
  EXPECT_EQ(waiting("full", 3, true), 0);
}

// Ten experts of 1024 tokens take tiles of 16 rows, of 512 features: 32 MiB in float32, 16 of which they take in bf16.
TEST(Cycles, RowsOfMoreExpertsThanATileWaitInFloat32WhereTheyAreComputedAgain) {
  const auto waiting = [](const char* policy, std::int64_t experts, std::int64_t layers, bool widens) {
    Model model = toy_mixtral();
    model.layers = 6;
    model.num_experts = 16;
    model.top_k = experts;
    if (layers > 1) model.attention_pattern = {256, static_cast<int>(layers) - 1};
    TrainConfig config = toy_moe(toy_config(1, 1024, policy), MoePath::ragged);
    config.float32_weight_sum = true;
    const Compiler tiles = with(toy_tpu(), Habit::pads_to_tiles);
    const Compiler compiler = widens ? with(tiles, Habit::widens_returned_rows) : tiles;
    const ToyMemory toy({model, config, "default", "fsdp=4", compiler});
    const auto lives = lives_of(toy, layers > 1 ? "layers_local" : "layers", "returned rows in float32");
    return lives.empty() ? 0 : mib(lives.front().bytes);
  };
  EXPECT_EQ(waiting("full", 10, 3, true), 16);
  EXPECT_EQ(waiting("full", 10, 3, false), 0);
  EXPECT_EQ(waiting("full", 8, 3, true), 0);
  EXPECT_EQ(waiting("full", 10, 1, true), 0);
  EXPECT_EQ(waiting("minimal_offloaded", 10, 3, true), 0);
}

// In the list of steps each layer's run in front of its own gradients, where nothing else reads them.
TEST(Cycles, ExpertsWhoseOutputIsKeptRunAgainOneLayerAtATime) {
  const Compiler lists = with(toy_tpu(), Habit::lists_kept_experts_apart);
  const auto waits = [](const char* policy, const Compiler& compiler, MoePath path, int local_layers) {
    Model model = toy_mixtral();
    model.layers = 6;
    if (local_layers > 0) model.attention_pattern = {256, local_layers};
    const ToyMemory toy({model, toy_moe(toy_config(1, 1024, policy), path), "default", "fsdp=4", compiler});
    const PartitionedBlock& layer = toy.block(local_layers > 0 ? "layers_local" : "layers");
    return life(layer, "expert wi_1 output").first < layer.gradients_begin;
  };
  EXPECT_FALSE(waits("save_dot_except_mlpwi", lists, MoePath::ragged, 2));
  EXPECT_FALSE(waits("minimal", lists, MoePath::ragged, 2)) << "keeps wi_0, too";
  EXPECT_TRUE(waits("save_dot_except_mlpwi", toy_tpu(), MoePath::ragged, 2));
  EXPECT_TRUE(waits("full", lists, MoePath::ragged, 2)) << "the next layer reads what comes of it";
  EXPECT_TRUE(waits("minimal_offloaded", lists, MoePath::ragged, 2)) << "another order";
  EXPECT_TRUE(waits("save_dot_except_mlpwi", lists, MoePath::dropping, 2));
  EXPECT_TRUE(waits("save_dot_except_mlpwi", lists, MoePath::ragged, 0)) << "no other layer";
}

// A float32 for each of 128 lanes, of 1024 queries and 8 heads. Two copies read those of one sequence.
TEST(Cycles, SoftmaxStatisticsOfOneSequenceWait) {
  const auto wait = [](const Model& model, double sequences, const char* layers) {
    const Compiler compiler = with(toy_tpu(), Habit::pads_to_tiles);
    const ToyMemory toy({model, toy_config(sequences, 1024), "default", "fsdp=4", compiler});
    return has_buffer(toy, layers, "softmax statistics");
  };
  EXPECT_TRUE(wait(cycle_of_three(), 1, "layers_local"));
  EXPECT_FALSE(wait(cycle_of_three(), 2, "layers_local")) << "turned, and reduced at once";
  EXPECT_FALSE(wait(toy_llama(), 1, "layers")) << "no other layer stands between them and their gradient";
}

/// Seven layers: two cycles of three, and one with a sliding window behind them.
ToyMemory with_one_behind(const Compiler& compiler, std::int64_t layers) {
  Model model = cycle_of_three();
  model.layers = layers;
  return ToyMemory({model, toy_config(1, 1024), "default", "fsdp=8", compiler});
}

Moment moment_of(const ToyMemory& toy, const std::string& name) {
  for (const Moment& moment : moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual))
    if (moment.name() == name) return moment;
  throw std::runtime_error("no moment " + name);
}

// Its recomputation is merged with the first run: what its gradients read, but for what norms made, waits over the loss.
TEST(LayersBehindAScan, KeepWhatTheyMadeOverTheLoss) {
  const Compiler merges = toy_tpu(), again = without(toy_tpu(), Habit::merges_single_layer_scan);
  const auto kept = [&](std::int64_t layers) {
    return moment_of(with_one_behind(merges, layers), "loss").activations -
           moment_of(with_one_behind(again, layers), "loss").activations;
  };
  EXPECT_EQ(kept(6).value, 0);
  const ToyMemory one = with_one_behind(merges, 7);
  const PartitionedBlock& local = one.block("layers_local");
  EXPECT_EQ(kept(7), merged_values(local, *one.bound().mesh));
  EXPECT_LT(merged_values(local, *one.bound().mesh), waiting_values(local));
}

// 10 Mi of weights a layer in bf16: 20 MiB, where the slice of 8 all-reduces them.
TEST(LayersBehindAScan, LeaveWholeGradientsWhereASliceAllReducesThem) {
  const ToyMemory whole = with_one_behind(toy_tpu(), 7),
                  parts = with_one_behind(without(toy_tpu(), Habit::all_reduces_over_whole_slices), 7);
  EXPECT_EQ(mib(whole_gradients_behind_scan(whole.block("layers_local"), 2, whole.bound(), whole.compiler())), 20);
  EXPECT_EQ(whole_gradients_behind_scan(whole.block("layers_global"), 2, whole.bound(), whole.compiler()).value, 0);
  EXPECT_EQ(whole_gradients_behind_scan(parts.block("layers_local"), 2, parts.bound(), parts.compiler()).value, 0);
}

}  // namespace
}  // namespace shardplan
