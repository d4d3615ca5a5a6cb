// Routing on the dropping path: arrays of all tokens of the step, on every device.
#include <gmock/gmock.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

constexpr std::int64_t tokens_of_sequence = 1024;

Lifetime routing(std::int64_t experts, std::int64_t sequences, const Compiler& compiler, const std::string& words) {
  Model model = toy_mixtral();
  model.num_experts = experts;
  const ToyMemory toy({model, toy_moe(toy_config(static_cast<double>(sequences), tokens_of_sequence), MoePath::dropping),
                       "default", "fsdp=2", compiler});
  const auto found = lives_of(toy, "layers", words);
  return found.empty() ? Lifetime{"none", {}, 0, -1} : found.back();
}

Compiler tiles() { return with(toy_tpu(), Habit::pads_to_tiles); }

// Two devices with two sequences each: 4,096 tokens, two places each of three integers; of 16 experts 16 weights a token.
TEST(RoutedTokens, AreThoseOfAllDevices) {
  EXPECT_EQ(routing(16, 2, toy_gpu(), "places of all routed tokens").bytes.value, 4096 * 2 * 3 * 4);
  const Lifetime weights = routing(16, 2, toy_gpu(), "routing weights of all tokens");
  EXPECT_EQ(weights.bytes.value, 4096 * 16 * 4);
  EXPECT_GT(weights.last, weights.first) << "until their gradient has read them";
}

// A token's two places take a row of 128 lanes; beside them the weights of 16 experts, and two gathered integers a place.
TEST(RoutedTokens, FillLanesWhereBuffersAreTiles) {
  constexpr std::int64_t row = 128 * 4, weights = 16 * 4, gathered = 2 * 2 * 4;
  EXPECT_EQ(routing(16, 2, tiles(), "routing of all tokens").bytes.value, 4096 * (row + weights + gathered));
  EXPECT_EQ(routing(16, 2, with(tiles(), Habit::turns_beside_compute), "routing of all tokens").bytes.value,
            4096 * (2 * row + row / 2 + gathered))
      << "two copies of integers and one of bf16";
  EXPECT_EQ(routing(16, 2, tiles(), "places of all routed tokens, turned").bytes.value, 4096 * row);
}

// Mixtral's 8 experts for 2: each device scatters its own, and no gradient is gathered from places.
TEST(RoutedTokens, OfFewExpertsAreSummed) {
  EXPECT_EQ(routing(8, 2, tiles(), "places of all routed tokens, turned").bytes.value, 0);
  EXPECT_EQ(routing(8, 2, with(tiles(), Habit::turns_beside_compute), "routing of all tokens").bytes.value,
            routing(8, 2, tiles(), "routing of all tokens").bytes.value);
}

// Weights of 512 experts take more than a row of lanes: they are there twice where they don't lie as they were scattered.
TEST(RoutedTokens, ScatteredWeightsAreTurned) {
  constexpr std::int64_t gathered = 2 * 2 * 4;
  EXPECT_EQ(routing(512, 2, tiles(), "routing of all tokens").bytes.value, 4096 * (2 * 512 * 4 + gathered));
}

// 2^27 tokens of 16 experts are 2^31 numbers, as many as 32 bits address. One sequence more a device, and each place is
// three integers in a row of lanes, before and after a fourth is added.
TEST(RoutedTokens, BeyondThirtyTwoBitsPlacesAreRows) {
  constexpr std::int64_t most = std::int64_t{1} << 16, gathered = 2 * 2 * 4, row = 128 * 4;
  const auto bytes_of_token = [](std::int64_t sequences) {
    return routing(16, sequences, tiles(), "routing of all tokens").bytes.value / (sequences * 2 * tokens_of_sequence);
  };
  EXPECT_EQ(bytes_of_token(most), row + 16 * 4 + gathered);
  EXPECT_EQ(bytes_of_token(most + 1), 2 * 2 * row + gathered);
}

}  // namespace
}  // namespace shardplan
