// The buffers of a moment, by name: together they are what it says.
#include <gmock/gmock.h>

#include <cost_models/memory/held_buffers.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

std::vector<HeldBuffer> held_at(const Moment& moment, const ToyMemory& toy) {
  return held_at(moment, toy.blocks(), toy.bound(), toy.config(), toy.compiler());
}

std::vector<HeldBuffer> held_at_peak(const ToyMemory& toy) {
  std::vector<HeldBuffer> held;
  toy.use({std::int64_t{95} << 30}, &held);
  return held;
}

Bytes sum_of(const std::vector<HeldBuffer>& held, HeldAs as) {
  Bytes sum;
  for (const HeldBuffer& buffer : held)
    if (buffer.as == as) sum += buffer.total();
  return sum;
}

TEST(HeldBuffers, AddUpToEveryMomentOfALoop) {
  const Compiler late = with(with(toy_tpu(), Habit::runs_cycle_weight_gradients_last),
                             Habit::runs_weight_gradients_beside_collectives);
  for (const ToyRun& run : {
           ToyRun{toy_llama(), toy_config(1, 1024), "default", "fsdp=4", toy_tpu()},
           ToyRun{toy_llama(), toy_config(1, 1024, "minimal"), "default", "fsdp=2,tensor=2", toy_tpu()},
           ToyRun{cycle_of_three(), toy_config(1, 1024), "default", "fsdp=4", toy_tpu()},
           ToyRun{cycle_of_three(), toy_config(1, 1024), "default", "fsdp=4", late},
           ToyRun{toy_deepseek(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "fsdp=4", toy_tpu()},
           ToyRun{toy_mixtral(), toy_moe(toy_config(2, 1024), MoePath::dropping), "default", "expert=4", toy_gpu()},
       }) {
    const ToyMemory toy(run);
    for (const Moment& moment :
         moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual)) {
      const auto held = held_at(moment, toy);
      if (!moment.loop) {
        EXPECT_THAT(held, IsEmpty()) << moment.name();
        continue;
      }
      EXPECT_EQ(sum_of(held, HeldAs::temporary), moment.temporaries) << run.mesh << ", " << moment.name();
      EXPECT_EQ(sum_of(held, HeldAs::activation), moment.activations) << run.mesh << ", " << moment.name();
      EXPECT_TRUE(std::is_sorted(held.begin(), held.end(),
                                 [](const HeldBuffer& a, const HeldBuffer& b) { return a.total() > b.total(); }));
    }
  }
}

// Each of four layers keeps its input, 1024 tokens of 2 KiB; the layer that runs holds its gathered weights, of 4 MiB each.
TEST(HeldBuffers, AreNamedAndCounted) {
  const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", "fsdp=4", toy_tpu()});
  std::vector<std::string> lines;
  for (const HeldBuffer& b : held_at_peak(toy))
    lines.push_back(fmt::format("{} {}, {}: {} x {} MiB", name_of(b.as), b.block, b.name, b.count, mib(b.bytes)));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], "temporary all layers, weights gathered or copied in front of the loops: 1 x 20 MiB");
  EXPECT_EQ(lines[1], "activation layers, layer input: 4 x 2 MiB");
  EXPECT_THAT(lines, Contains("temporary layers, mlp/wo, gathered: 1 x 4 MiB"));
}

// Of two layers with sliding windows in an iteration both hold what the third one's backward pass finds of them.
TEST(HeldBuffers, OfLayersThatShareAnIterationCountThemAll) {
  const ToyMemory toy({cycle_of_three(), toy_config(1, 1024), "default", "fsdp=4", toy_tpu()});
  const auto held = held_at_peak(toy);
  EXPECT_TRUE(std::any_of(held.begin(), held.end(), [](const HeldBuffer& b) {
    return b.as == HeldAs::temporary && b.block == "layers_local" && b.count == 2;
  }));
}

}  // namespace
}  // namespace shardplan
