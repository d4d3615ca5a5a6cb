// What arrays take in whole tiles, and in which order XLA:TPU lays weights out for it.
#include <gtest/gtest.h>

#include <cost_models/layouts/tiles.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

TEST(Tiles, TakeWholeLanesAndSublanesOfTheTwoDimsThatWasteLeast) {
  EXPECT_EQ(tiled_elements({16, 256}), 16 * 256);
  EXPECT_EQ(tiled_elements({180, 2880}), 184 * 2944);
  EXPECT_EQ(tiled_elements({32, 180, 2880}), 32 * 180 * 2944) << "tiles of 8 experts x 128 features";
  EXPECT_EQ(tiled_elements({26, 2048}), 32 * 2048);
  EXPECT_EQ(tiled_elements({3, 2048}), 4 * 2048) << "few rows, lower tiles";
  EXPECT_EQ(tiled_elements({2048}), 2048) << "one dim lies in a row";
}

// Dims as compiled programs lay them out: {3,0,2,1} of plan_gptoss20b_tpuv6e_128, {0,3,2,1} of plan_gptoss120b_tpuv5p_256,
// {2,0,1} of mistral7bx3_v6e8_data4_fsdp2_zero1_save_dot_except_mlp, {0,1} of both tables.
TEST(Tiles, WeightsLieInAnotherOrderWhereThatWastesLess) {
  const auto in_order = [](std::initializer_list<std::int64_t> sizes, std::int64_t layers, const Compiler& compiler) {
    Tensor weight;
    weight.parameter = true;
    PartitionSpec whole;
    for (const std::int64_t size : sizes) {
      weight.dims.push_back({Dim::rows, size});
      whole.dims.push_back({});
    }
    return lies_in_order(weight, whole, Mesh{}, compiler, layers);
  };
  const Compiler pads = with(toy_tpu(), Habit::pads_to_tiles);
  EXPECT_FALSE(in_order({32, 180, 2880}, 12, pads)) << "tiles of 8 experts";
  EXPECT_FALSE(in_order({128, 45, 2880}, 18, pads)) << "experts along the lanes";
  EXPECT_FALSE(in_order({201088, 45}, 1, pads)) << "words along the lanes";
  EXPECT_TRUE(in_order({14336, 2048}, 3, pads)) << "each layer by itself";
  EXPECT_TRUE(in_order({14336, 2048}, 32, pads));
  EXPECT_TRUE(in_order({8, 4096, 14336}, 32, pads));
  EXPECT_TRUE(in_order({32, 180, 2880}, 12, toy_tpu())) << "no tiles";
}

}  // namespace
}  // namespace shardplan
