// The gradient of a matrix that is scattered by rows, piece by piece, as compiled for v6e.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cost_models/moves/scattered_rows.hpp>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {


struct Cut {
  std::int64_t devices;
  bool in_halves;
  std::int64_t tile_rows, tile_columns;  ///< tiles of 8 x 128 that a device keeps
  std::optional<std::int64_t> scattered;  ///< rows of them
};

constexpr bool whole_square = true;

// Products of one weight's gradient, compiled for 2x2, 2x4, 4x8 and 8x16 of v6e.
TEST(ScatteredRows, AreWhatTheCompilerPadsThemTo) {
  const Compiler v6e = load_compiler("xla-tpu");
  for (const Cut& row : {
           Cut{8, false, 64, 112, 65}, Cut{8, false, 64, 96, 66}, Cut{8, false, 64, 108, 65}, Cut{8, false, 64, 86, 70},
           Cut{8, false, 64, 43, 70}, Cut{8, false, 64, 128, 64}, Cut{8, false, 64, 224, 64}, Cut{8, false, 64, 64, 64},
           Cut{8, false, 128, 86, 133}, Cut{8, false, 32, 86, 35}, Cut{8, false, 56, 112, 60}, Cut{8, false, 56, 148, 56},
           Cut{8, false, 56, 28, 57}, Cut{8, false, 58, 28, 60}, Cut{8, false, 61, 28, 63}, Cut{8, false, 13, 43, 14},
           Cut{8, false, 13, 45, 16}, Cut{8, false, 7, 160, 9}, Cut{8, false, 3, 208, 3}, Cut{8, false, 3, 210, 4},
           Cut{8, false, 64, 1002, 64}, Cut{8, false, 64, 1252, 64}, Cut{8, false, 64, 1142, std::nullopt},
           Cut{8, false, 64, 457, std::nullopt}, Cut{8, false, 64, 1187, std::nullopt},
           Cut{4, whole_square, 80, 76, 84}, Cut{4, whole_square, 64, 86, 70}, Cut{4, whole_square, 64, 112, 64},
           Cut{4, whole_square, 7, 20, 8}, Cut{4, whole_square, 40, 76, 40}, Cut{4, whole_square, 64, 283, std::nullopt},
           Cut{4, false, 7, 20, 7}, Cut{4, false, 64, 86, 70}, Cut{4, false, 80, 76, 84}, Cut{4, false, 64, 43, 64},
           Cut{2, false, 64, 86, 65}, Cut{2, false, 80, 76, 80}, Cut{16, false, 64, 112, 66}, Cut{16, false, 64, 172, 64},
           Cut{32, false, 11, 43, 12}, Cut{32, false, 14, 148, 14}, Cut{128, false, 4, 112, 4},
           Cut{128, false, 4, 86, std::nullopt}, Cut{128, false, 4, 148, std::nullopt},
       }) {
    const std::int64_t rows = 8 * row.devices;
    const auto scattered =
        scattered_rows(row.tile_rows * rows, row.tile_columns * 128, 2, row.devices, row.in_halves, v6e);
    const auto expected = row.scattered ? std::optional(*row.scattered * rows) : std::nullopt;
    EXPECT_EQ(scattered, expected) << row.devices << " devices, " << row.tile_rows << " x " << row.tile_columns;
  }
}

// wi_0 [1024, 2048] over 4 devices: 256 rows each, 32 rows of 16 tiles. Pieces of up to 7 rows of tiles: five of them, 35.
// The last device's rows begin 3 * 24 rows from their place: 72 of 4 KiB.
TEST(ScatteredRows, ArePutInTheirPlacesByAPermute) {
  Compiler compiler = with(plain_compiler(), Habit::pads_scattered_rows);
  compiler.piece_budget = Bytes{7 * 16 * 2048 * (4 + 4)};
  const ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "data=2,fsdp=4", compiler};
  const auto moved = [&](CollectiveKind kind, const char* weight) {
    for (const auto& c : run(toy).collectives)
      if (c.kind == kind && c.phase == Phase::backward && c.op == std::string("layers/mlp/") + weight) return c.bytes.value;
    return std::int64_t{0};
  };
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, "wi_0"), 4 * 35 * 8 * 4096);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "wi_0"), 3 * 24 * 4096);
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, "wo"), 4 << 20) << "scattered along its columns";
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "wo"), 0);
}

// wi_0 [1040, 2048] over 4 devices: 260 rows each, in tiles of 8 rows 264, 33 rows of 16 tiles. The last device's first 12
// rows are with the device before it. Of a budget for one row of tiles nothing comes out: 16 tiles are too few.
TEST(ScatteredRows, ArePaddedToWholeTilesWherePiecesComeOut) {
  const auto moved = [](CollectiveKind kind, std::int64_t tiles) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "data=2,fsdp=4",
               with(plain_compiler(), Habit::pads_rows_to_tiles)};
    toy.model.emb = 1040;
    toy.compiler.piece_budget = Bytes{tiles * 2048 * (4 + 4)};
    for (const auto& c : run(toy).collectives)
      if (c.kind == kind && c.phase == Phase::backward && c.op == "layers/mlp/wi_0") return c.bytes.value;
    return std::int64_t{0};
  };
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, 33 * 16), 4 * 264 * 4096);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, 33 * 16), 12 * 4096);
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, 11 * 16), 4 * 264 * 4096) << "three pieces of eleven rows";
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, 30), 4 * 260 * 4096);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, 30), 0);
}

}  // namespace
}  // namespace shardplan
