// Where memory is short: what a scheduler then runs early, how gathered shards lie that are no whole tiles, and what an
// iteration that was peeled off leaves behind.
#include <gmock/gmock.h>

#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/partition/pressed_blocks.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

/// Of a program that needs all of its memory, what it would need with twice as much.
Bytes spared(const ToyMemory& toy) {
  const Bytes relaxed = toy.use().peak();
  return relaxed - toy.use(relaxed).peak();
}

// Round a ring of four, a device sorts the rows of all: 4 * 2 * 2 * 1024 of 512 columns, 16 MiB in bf16. Beside the rows'
// gradient they, hidden rows and both projections' gradients no longer wait.
TEST(MemoryPressure, RunsWeightGradientsOfRowsThatCameFromElsewhere) {
  Model model = toy_mixtral();
  model.mlp = model.moe_mlp = 256;
  const auto ring = [&](const Compiler& compiler) {
    return ToyMemory({model, toy_moe(toy_config(2, 1024), MoePath::ring), "default", "expert=4", compiler});
  };
  Compiler last = with(toy_tpu(), Habit::runs_expert_weight_gradients_last);
  last.overlap.asynchronous.set(CollectiveKind::reduce_scatter, false);
  const Compiler frees = with(last, Habit::frees_under_pressure);
  EXPECT_EQ(spared(ring(last)).value, 0);
  EXPECT_GE(mib(spared(ring(frees))), 16);
  EXPECT_EQ(ring(frees).use().peak(), ring(last).use().peak()) << "enough memory";
  Compiler sums_beside = frees;
  sums_beside.overlap.asynchronous.set(CollectiveKind::reduce_scatter, true);
  EXPECT_EQ(spared(ring(sums_beside)).value, 0);
}

// [1024, 2048] in bf16 is 4 MiB. Over 128 devices of fsdp a shard has 8 rows or columns; over 256 it has 4.
TEST(GatheredShards, TakeTwiceTheRoomWhereTheyAreNoWholeTiles) {
  const auto gathered = [](const char* mesh, const char* words) {
    const Compiler tiles = with(toy_tpu(), Habit::pads_to_tiles);
    const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", mesh, tiles});
    Bytes most;
    for (const Lifetime& life : lives_of(toy, "layers", words)) most = std::max(most, life.bytes);
    return mib(most);
  };
  EXPECT_EQ(gathered("fsdp=128", "mlp/wi_0, gathered"), 4);
  EXPECT_EQ(gathered("fsdp=256", "mlp/wi_0, gathered"), 8);
  EXPECT_EQ(gathered("fsdp=128", "mlp/wo, gathered"), 4);
  EXPECT_EQ(gathered("fsdp=256", "mlp/wo, gathered as it lies"), 8);
  EXPECT_EQ(gathered("fsdp=256", "mlp/wo, gathered and turned"), 4);
}

// A layer that leads to the next of its iteration gathers wo again for its gradient, and keeps it from the first time on.
TEST(GatheredShards, TurnedWeightsWaitWithTheirLayer) {
  Model model = toy_llama();
  model.attention_pattern = {256, 1};
  const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=256", with(toy_tpu(), Habit::pads_to_tiles)});
  const auto lives = lives_of(toy, "layers_local", "mlp/wo, gathered and turned");
  const PartitionedBlock& layer = toy.block("layers_local");
  EXPECT_TRUE(std::any_of(lives.begin(), lives.end(), [&](const Lifetime& life) {
    return life.first < layer.gradients_begin && life.last >= layer.gradients_begin;
  }));
}

// The dense layer in front of an offloading loop runs backward before the peeled layer's weight gradients do.
TEST(PeeledIteration, LeavesWhatItsWeightGradientsRead) {
  const auto moments = [](const char* policy, const Compiler& compiler) {
    const TrainConfig config = toy_moe(toy_config(1, 1024, policy), MoePath::ragged);
    const ToyMemory toy({toy_deepseek(), config, "default", "fsdp=8", compiler});
    std::vector<Bytes> found;
    for (const Moment& moment : moments_of(toy.blocks(), toy.bound(), toy.config(), compiler, HeadGradient::habitual))
      if (moment.name() == "backward of dense_layers") found.push_back(moment.temporaries);
    return found;
  };
  const Compiler peels = with(toy_tpu(), Habit::peels_offloading_loops);
  const auto left = moments("qkv_proj_offloaded", peels);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_GT(mib(left[0]), mib(left[1]) + 8) << "routed rows [4096, 1024] alone are 8 MiB";
  EXPECT_EQ(moments("full", peels).size(), 1u);
  EXPECT_EQ(moments("qkv_proj_offloaded", without(peels, Habit::peels_offloading_loops)).size(), 1u);
}

// A weight that is gathered again at step 8 could be since step 1: XLA's list does it then where the layer makes something
// larger, 2 MiB, and not where the weight is the largest.
TEST(XlasList, GathersBeforeItMakesWhatIsLarger) {
  const auto gathered_at = [](std::int64_t weight, int earliest) {
    PartitionedBlock layer;
    std::vector<Lifetime> lives = {{{0, " output"}, Bytes{2 << 20}, 3, 9}, {{1, ", gathered"}, Bytes{weight << 20}, 8, 9}};
    lives.back().listed_first = earliest;
    layer.lifetimes = lives;
    const auto listed = in_list({layer});
    return listed.empty() ? -1 : listed.front().lifetimes.all().back().first;
  };
  EXPECT_EQ(gathered_at(1, 1), 1);
  EXPECT_EQ(gathered_at(3, 1), 8);
  EXPECT_EQ(gathered_at(1, -1), -1) << "as ever";
}

}  // namespace
}  // namespace shardplan
