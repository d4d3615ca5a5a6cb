#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/grouped/grouped_time.hpp>
#include <cost_models/time/grouped/tokamax_tiles.hpp>
#include <hardware/load_profile.hpp>

#include "../memory_toys.hpp"
#include "time_toys.hpp"

namespace shardplan {
namespace {

using Tile = GroupedTile;

/// 100 TFLOP/s, 1 TB/s, 1 us a step.
HardwareProfile grouping_machine() {
  HardwareProfile machine = toy_machine();
  machine.grouped_kernels = GroupedKernels{{1e-6, "us", "toy", Basis::assumed}, {0, "B", "toy", Basis::assumed}, {}, ""};
  return machine;
}

GroupedProduct grouped_product(MatrixShape shape, Tile tile, bool makes_weights = false) {
  return {shape, tile, makes_weights, 2, {100e12}};
}

struct StepRow {
  Tile tile;
  double steps;
};

// 4,096 rows of 4 groups, weights [1024, 512].
TEST(GroupedSteps, EveryGroupButOneMayEndInsideATile) {
  for (const auto& [tile, steps] : {StepRow{{512, 1024, 512}, 8 + 3},
                                    {{512, 512, 512}, 2 * (8 + 3)},
                                    {{512, 1000, 500}, 4 * (8 + 3)},
                                    {{8192, 4096, 4096}, 1 + 3}})  // no larger than what it is cut of
    EXPECT_DOUBLE_EQ(grouped_steps(grouped_product({4096, 512, 1024, 4}, tile)), steps) << tile.contracted;
}

struct TrafficRow {
  const char* what;
  Tile tile;
  bool makes_weights;
  double elements;
};

TEST(GroupedTraffic, WhatStaysIsFetchedOnce) {
  constexpr double rows = 4096 * 1024, weights = 4 * 1024 * 512, results = 4096 * 512, row_tiles = 8 + 3;
  for (const auto& row : {
           TrafficRow{"all of a weight stays", {512, 1024, 512}, false, rows + weights + results},
           {"rows again for each half of the columns", {512, 1024, 256}, false, 2 * rows + weights + results},
           {"a contracted dim in parts", {512, 512, 512}, false, row_tiles * (512 * 1024 + 1024 * 512) + results},
           {"the weights' gradient", {512, 1024, 512}, true, rows + results + weights},
           {"in halves of the contracted dim", {512, 512, 512}, true, rows + 2 * results + weights},
       })
    EXPECT_EQ(grouped_traffic(grouped_product({4096, 512, 1024, 4}, row.tile, row.makes_weights)).value,
              static_cast<std::int64_t>(2 * row.elements))
        << row.what;
}

TEST(GroupedTime, IsTilesOrTrafficAndEachStep) {
  const HardwareProfile machine = grouping_machine();
  const Compiler compiler = toy_compiler();
  const auto seconds = [&](const GroupedProduct& p) { return grouped_time(p, machine, compiler).value; };
  const auto multiplied = [](double rows) { return 2 * rows * 1024 * 512 / 100e12; };
  // 11 tiles of 2 · 512 · 1024 · 512 FLOP, 5.4 us each; 4.2M + 2.1M + 2.1M numbers in two bytes take 17 us.
  EXPECT_NEAR(seconds(grouped_product({4096, 512, 1024, 4}, {512, 1024, 512})), 11 * (multiplied(512) + 1e-6), 1e-12);
  // Tiles of 16 rows: 259 steps of 0.17 us of products; their traffic takes 17 us as before.
  EXPECT_NEAR(seconds(grouped_product({4096, 512, 1024, 4}, {16, 1024, 512})), 259 * (multiplied(16) + 1e-6), 1e-12);
  GroupedProduct waiting = grouped_product({4096, 512, 1024, 4}, {512, 512, 512});
  waiting.rate = {1e18};
  EXPECT_NEAR(seconds(waiting), traffic_time(grouped_traffic(waiting), machine).value + 22e-6, 1e-12);
  EXPECT_EQ(seconds(grouped_product({0, 512, 1024, 4}, {512, 1024, 512})), 0);
}

// Columns that don't fill registers are multiplied as if they did: 100 as 128.
TEST(GroupedTime, RegistersAreFilled) {
  const HardwareProfile machine = grouping_machine();
  GroupedProduct narrow = grouped_product({512, 100, 1024, 1}, {512, 1024, 512});
  narrow.rate = {10e12};
  EXPECT_NEAR(grouped_time(narrow, machine, toy_compiler()).value, 2 * 512.0 * 1024 * 128 / 10e12 + 1e-6, 1e-12);
}

OperationWork grouped(GroupedTiles tiles) {
  OperationWork work;
  work.kind = WorkKind::grouped_matmul;
  work.shape = {4096, 512, 1024, 4};
  work.forward = {2.0 * 4096 * 512 * 1024};
  work.backward = work.forward * 2;
  work.tiles = tiles;
  return work;
}

TEST(GroupedTime, EachPassHasItsTiles) {
  const HardwareProfile machine = grouping_machine();
  Compiler compiler = toy_compiler();
  compiler.kernels.has_megablox = true;
  const Tile forward{512, 1024, 512}, input{512, 512, 1024}, weight{1024, 512, 512};
  const OperationTime time = operation_time(grouped({forward, input, weight}), machine, compiler);
  const auto seconds = [&](MatrixShape shape, Tile tile, bool makes_weights) {
    return grouped_time(grouped_product(shape, tile, makes_weights), machine, compiler).value;
  };
  EXPECT_DOUBLE_EQ(time.forward.grouped_matmul.value, seconds({4096, 512, 1024, 4}, forward, false));
  EXPECT_DOUBLE_EQ(time.backward.grouped_matmul.value, seconds({4096, 1024, 512, 4}, input, false));
  EXPECT_DOUBLE_EQ(time.backward_right.grouped_matmul.value, seconds({4096, 512, 1024, 4}, weight, true));
}

// Narrow operands are half as many bytes, and multiplied at their peak.
TEST(GroupedTime, NarrowOperandsAreFetchedNarrow) {
  HardwareProfile machine = grouping_machine();
  machine.peak_fp8 = Figure{200e12, "TFLOP/s", "toy", Basis::assumed};
  Compiler compiler = toy_compiler();
  compiler.kernels.has_megablox = true;
  OperationWork work = grouped({{512, 1024, 512}, {}, {}});
  work.narrow_dtype = DType::f8;
  work.narrow_forward = work.forward;
  GroupedProduct narrow = grouped_product(work.shape, work.tiles.forward);
  narrow.operand_bytes = 1;
  narrow.rate = {200e12};
  EXPECT_DOUBLE_EQ(operation_time(work, machine, compiler).forward.grouped_matmul.value,
                   grouped_time(narrow, machine, compiler).value);
}

TEST(TokamaxTiles, AreTunedOrMadeSmallerUntilTheyFit) {
  const GroupedKernels tuned_for = *parse_profile(profile_json("tpu-7x"), "7x").grouped_kernels;
  const GroupedTiles tuned = tokamax_tiles({524288, 1536, 4096, 128}, tuned_for);
  EXPECT_EQ(tuned.forward, (Tile{256, 4096, 1536}));
  EXPECT_EQ(tuned.input_gradient, (Tile{1024, 1536, 1024}));
  EXPECT_EQ(tuned.weight_gradient, (Tile{256, 2048, 1536}));
  // tokamax 0.0.17's _get_heuristics_config and _tgmm_heuristics_config on a TPU 7x.
  const GroupedTiles other = tokamax_tiles({400000, 1536, 4096, 128}, tuned_for);
  EXPECT_EQ(other.forward, (Tile{128, 4096, 768}));
  EXPECT_EQ(other.input_gradient, (Tile{128, 768, 4096}));
  EXPECT_EQ(other.weight_gradient, (Tile{1024, 1024, 1536}));
}

/// MaxText's wi_tile_* are of wi_0 and wi_1, wo_tile_* of wo; what each contracts comes second.
TEST(KernelTiles, AreMaxTexts) {
  TrainConfig config = toy_moe(toy_config(2, 1024), MoePath::ragged);
  config.wi_tile_fwd_batch_seq = 1, config.wi_tile_fwd_embed_dim = 2, config.wi_tile_fwd_mlp_dim = 3;
  config.wi_tile_dlhs_batch_seq = 4, config.wi_tile_dlhs_embed_dim = 5, config.wi_tile_dlhs_mlp_dim = 6;
  config.wo_tile_drhs_batch_seq = 7, config.wo_tile_drhs_embed_dim = 8, config.wo_tile_drhs_mlp_dim = 9;
  const ToyMemory toy({toy_mixtral(), config, "default", "expert=8", load_compiler("xla-tpu")});
  const auto tiles_of = [&](std::string_view name) {
    const PartitionedBlock& layer = toy.block("layers");
    for (std::size_t id = 0; id < layer.work().size(); ++id)
      if (layer.block->operations[id].name.ends_with(name)) return layer.work()[id].tiles;
    return GroupedTiles{};
  };
  EXPECT_EQ(tiles_of("/wi_0").forward, (Tile{1, 2, 3}));
  EXPECT_EQ(tiles_of("/wi_1").input_gradient, (Tile{4, 6, 5}));
  EXPECT_EQ(tiles_of("/wo").weight_gradient, (Tile{7, 9, 8}));
  EXPECT_EQ(tiles_of("/wo").forward, (Tile{512, 1024, 1024}));
}

}  // namespace
}  // namespace shardplan
