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

TEST(Tiles, OfNothingTakeNothing) {
  Tensor none;
  none.dims = {{Dim::rows, 16}, {Dim::mlp, 0}};
  const PartitionSpec whole{.dims = {{}, {}}};
  const Compiler pads = with(toy_tpu(), Habit::pads_to_tiles);
  EXPECT_EQ(row_elements(none, whole, Mesh{}), 0);
  EXPECT_EQ(stored_elements(none, whole, Mesh{}, pads), 0);
  none.parameter = true;
  EXPECT_EQ(stored_elements(none, whole, Mesh{}, pads, 4), 0);
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

// Layouts of arguments that were compiled alone for v6e: bf16[512,32,11008]{2,1,0}, bf16[512,26,11008]{2,0,1},
// bf16[512,32,500]{0,1,2}, bf16[256,13,896,256]{3,2,1,0}, bf16[512,28,32,192]{0,3,2,1}, bf16[512,28,1,128]{3,0,2,1},
// bf16[8,32,100,256]{3,1,2,0}.
TEST(Tiles, LayersLieApartWhereTheLastDimsFillThem) {
  const auto layer_major = [](std::initializer_list<std::int64_t> sizes, std::int64_t layers) {
    Tensor weight;
    PartitionSpec whole;
    for (const std::int64_t size : sizes) {
      weight.dims.push_back({Dim::rows, size});
      whole.dims.push_back({});
    }
    return lies_layer_major(weight, whole, Mesh{}, layers);
  };
  for (const std::int64_t layers : {2, 4, 8, 16, 24, 32, 40, 80}) EXPECT_FALSE(layer_major({512, 11008}, layers)) << layers;
  for (const std::int64_t layers : {1, 3, 6, 12, 26, 28, 30, 36, 58, 61, 94, 126})
    EXPECT_TRUE(layer_major({512, 11008}, layers)) << layers;
  EXPECT_FALSE(layer_major({512, 500}, 32)) << "layers in the tiles";
  EXPECT_FALSE(layer_major({256, 896, 256}, 13));
  EXPECT_TRUE(layer_major({512, 32, 192}, 28));
  EXPECT_TRUE(layer_major({512, 1, 128}, 28));
  EXPECT_FALSE(layer_major({8, 100, 256}, 32)) << "layers in the tiles";
  EXPECT_TRUE(layer_major({1, 896, 256}, 13)) << "one expert a device";
}

}  // namespace
}  // namespace shardplan
