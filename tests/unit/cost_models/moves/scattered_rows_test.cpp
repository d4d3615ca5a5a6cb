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

void expect(const Cut& cut, const Compiler& compiler, const std::string& flags = "") {
  const std::int64_t rows = 8 * cut.devices;
  EXPECT_EQ(scattered_rows(cut.tile_rows * rows, cut.tile_columns * 128, 2, cut.devices, cut.in_halves, compiler),
            cut.scattered ? std::optional(*cut.scattered * rows) : std::nullopt)
      << cut.devices << " devices, " << cut.tile_rows << " x " << cut.tile_columns << flags;
}

// Products of one weight's gradient, compiled for 2x2, 2x4, 4x8 and 8x16 of v6e.
TEST(ScatteredRows, AreWhatTheCompilerPadsThemTo) {
  const Compiler v6e = load_compiler("xla-tpu");
  for (const Cut& cut : {
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
    expect(cut, v6e);
  }
}

// What the same compiler pads them to with flags that give an operation's tiles more VMEM than 32 MiB.
TEST(ScatteredRows, PiecesGrowWithTheVmemOfTiles) {
  struct Flagged {
    std::int64_t kib;
    Cut cut;
  };
  Compiler v6e = load_compiler("xla-tpu");
  for (const Flagged& row : {
           Flagged{16384, {32, false, 14, 112, 14}}, Flagged{49152, {32, false, 14, 112, 14}},
           Flagged{57344, {32, false, 14, 112, 15}}, Flagged{81920, {32, false, 14, 112, 16}},
           Flagged{98304, {32, false, 14, 112, 15}}, Flagged{65536, {128, false, 8, 106, 8}},
           Flagged{65536, {128, false, 8, 118, std::nullopt}}, Flagged{65536, {128, false, 3, 58, 3}},
           Flagged{98304, {128, false, 8, 166, 8}}, Flagged{98304, {128, false, 8, 178, std::nullopt}},
           Flagged{98304, {128, false, 3, 58, 3}}, Flagged{98304, {128, false, 3, 60, 4}},
           Flagged{98304, {8, false, 64, 112, 64}}, Flagged{98304, {8, false, 64, 86, 66}},
           Flagged{98304, {8, false, 128, 86, 132}}, Flagged{98304, {8, false, 64, 1187, std::nullopt}},
           Flagged{98304, {4, whole_square, 64, 112, 66}}, Flagged{98304, {4, whole_square, 64, 86, 64}},
           Flagged{98304, {4, whole_square, 80, 76, 84}},
       }) {
    v6e.settings[CompilerSetting::scoped_vmem_limit] = Bytes{row.kib * 1024};
    expect(row.cut, v6e, fmt::format(", {} KiB", row.kib));
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
      if (c.kind == kind && c.phase == Phase::backward && c.op == "layers/mlp/wi_0" && c.bytes.value > 4096)
        return c.bytes.value;
    return std::int64_t{0};
  };
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, 33 * 16), 4 * 264 * 4096);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, 33 * 16), 12 * 4096);
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, 11 * 16), 4 * 264 * 4096) << "three pieces of eleven rows";
  EXPECT_EQ(moved(CollectiveKind::reduce_scatter, 30), 0);
  EXPECT_EQ(moved(CollectiveKind::all_reduce, 30), 4 * 260 * 4096);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, 30), 0);
}

Tensor weight_of(Dims dims) {
  Tensor weight;
  weight.dims = std::move(dims);
  weight.parameter = true;
  return weight;
}

AxisList axes_above_one(const Mesh& mesh) {
  AxisList axes;
  for (AxisId axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.axes[axis].size() > 1) axes.push_back(axis);
  return axes;
}

// A matrix [devices * rows, 2048] over as many devices; a row has 4 KiB.
struct Scattered {
  const char* what;
  std::int64_t rows, budget_tiles;  ///< of a device; what fits of a piece
  const char* mesh;
  std::vector<std::string> moves;
};

TEST(ScatteredRows, OfWholeTilesAndOverTwoAxes) {
  for (const Scattered& row : {
           Scattered{"eight rows, parts of eight tiles", 8, 8, "fsdp=4", {"reduce-scatter fsdp 32"}},
           {"half a pair of tiles is no piece", 8, 1, "fsdp=4", {"all-reduce fsdp 32"}},
           // Of 16 rows the last device's begin 7 - 7 * 12 / 16 devices away; two away is one along the major axis.
           {"twelve of sixteen", 12, 32, "fsdp=4,context=2",
            {"reduce-scatter fsdp+context 128", "collective-permute fsdp+context 16", "collective-permute fsdp 12"}},
       }) {
    Compiler compiler = with(plain_compiler(), Habit::pads_rows_to_tiles);
    const Mesh mesh = parse_mesh(row.mesh, load_rules("default").mesh_axes);
    const AxisList axes = axes_above_one(mesh);
    const std::int64_t devices = mesh.product(axes);
    compiler.piece_budget = Bytes{row.budget_tiles * 2048 * (devices + 4)};
    const Tensor weight = weight_of({{Dim::embed, row.rows * devices}, {Dim::mlp, 2048}});
    PartitionSpec whole, wanted;
    whole.dims = {AxisList{}, AxisList{}};
    wanted.dims = {axes, AxisList{}};
    const Move scatter{CollectiveKind::reduce_scatter, axes, Bytes{row.rows * devices * 4096}, true};
    std::vector<std::string> moves;
    for (const Move& move : scattered_in_pieces(scatter, weight, whole, wanted, mesh, InShardMap::no, compiler))
      moves.push_back(fmt::format("{} {} {}", name_of(move.kind), fmt::join(names_of(move.axes, mesh), "+"),
                                  move.bytes.value / 4096));
    EXPECT_EQ(moves, row.moves) << row.what;
  }
}

// A matrix of 20 rows on each of 4 devices, in tiles 24: three rows of `tiles`. A piece of a number that four doesn't divide
// has to be more of what fits. A flag that gives tiles more VMEM makes room for twice as many.
TEST(ScatteredRows, PiecesFillTheBudgetThatFlagsLeave) {
  const auto is_scattered = [](std::int64_t tiles, std::int64_t vmem_mib) {
    Compiler compiler = with(plain_compiler(), Habit::pads_rows_to_tiles);
    compiler.piece_budget = Bytes{57 * 2048 * (4 + 4)};
    compiler.larger_pieces = LargerPieces{Bytes{32 << 20}, compiler.piece_budget * 2};
    if (vmem_mib > 0) compiler.settings[CompilerSetting::scoped_vmem_limit] = Bytes{vmem_mib << 20};
    const Mesh mesh = parse_mesh("fsdp=4", load_rules("default").mesh_axes);
    const AxisList axes = axes_above_one(mesh);
    PartitionSpec whole, wanted;
    whole.dims = {AxisList{}, AxisList{}};
    wanted.dims = {axes, AxisList{}};
    const Tensor weight = weight_of({{Dim::embed, 80}, {Dim::mlp, tiles * 128}});
    const Move scatter{CollectiveKind::reduce_scatter, axes, Bytes{80 * tiles * 256}, true};
    const Moves moves = scattered_in_pieces(scatter, weight, whole, wanted, mesh, InShardMap::no, compiler);
    return moves.front().kind == CollectiveKind::reduce_scatter;
  };
  EXPECT_TRUE(is_scattered(32, 0));
  EXPECT_FALSE(is_scattered(34, 0));
  EXPECT_TRUE(is_scattered(36, 0));
  EXPECT_TRUE(is_scattered(38, 0));
  EXPECT_FALSE(is_scattered(140, 0)) << "in quarters of 35 tiles";
  EXPECT_FALSE(is_scattered(140, 28));
  EXPECT_TRUE(is_scattered(140, 32)) << "in halves";
  EXPECT_FALSE(is_scattered(66, 64));
}

// Query [1040, 8, 128] over 4 devices: 260 rows each are no whole tiles; of 1056 they are 33.
TEST(ScatteredRows, OfWhatIsNoMatrixAreSummedWholeWhereTheyPartTiles) {
  const auto sums = [](std::int64_t emb) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "data=2,fsdp=4",
               with(plain_compiler(), Habit::pads_rows_to_tiles)};
    toy.model.emb = emb;
    for (const auto& c : run(toy).collectives)
      if (c.phase == Phase::backward && c.op == "layers/self_attention/query" && c.bytes.value == emb * 2048) return c.kind;
    throw InternalError("no sum of the gradient of the query");
  };
  EXPECT_EQ(sums(1040), CollectiveKind::all_reduce);
  EXPECT_EQ(sums(1056), CollectiveKind::reduce_scatter);
}

/// Of a weight whose dim number `dim` fsdp scatters.
CollectiveKind sum_of(Dims dims, std::size_t dim, const char* axes, InShardMap in_shard_map, Habit habit) {
  const Mesh mesh = parse_mesh(axes, load_rules("default").mesh_axes);
  const AxisList fsdp{static_cast<AxisId>(mesh.find("fsdp").value())};
  PartitionSpec whole, wanted;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    whole.dims.push_back({});
    wanted.dims.push_back(i == dim ? fsdp : AxisList{});
  }
  const Move scatter{CollectiveKind::reduce_scatter, fsdp, Bytes{1 << 20}, true};
  const Moves moves = scattered_in_pieces(scatter, weight_of(std::move(dims)), whole, wanted, mesh, in_shard_map,
                                          with(plain_compiler(), habit));
  return moves.front().kind;
}

// Experts [4, 64, 2048] and [4, 2048, 1024] over 4 and over 8 devices: 16 and 8 rows, 256 and 128 columns.
TEST(ScatteredRows, OfExpertsAreEvenNumbersOfTiles) {
  const auto sum = [](Dims dims, std::size_t dim, const char* axes) {
    return sum_of(std::move(dims), dim, axes, InShardMap::yes, Habit::scatters_even_tiles_of_experts);
  };
  const Dims wi{{Dim::experts, 4}, {Dim::embed, 64}, {Dim::mlp, 2048}};
  const Dims wo{{Dim::experts, 4}, {Dim::mlp, 2048}, {Dim::embed, 1024}};
  EXPECT_EQ(sum(wi, 1, "fsdp=4"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(sum(wi, 1, "fsdp=8"), CollectiveKind::all_reduce);
  EXPECT_EQ(sum(wo, 2, "fsdp=4"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(sum(wo, 2, "fsdp=8"), CollectiveKind::all_reduce);
  EXPECT_EQ(sum(wi, 0, "fsdp=4"), CollectiveKind::reduce_scatter) << "experts are no tiles";
}

// Of dense layers columns of whole tiles, and rows of attention's features: out [8, 128, 1024] and query [1024, 8, 128].
TEST(ScatteredRows, OfDenseLayersAreEvenNumbersOfTiles) {
  const auto sum = [](Dims dims, std::size_t dim, const char* axes) {
    return sum_of(std::move(dims), dim, axes, InShardMap::no, Habit::scatters_even_tiles);
  };
  const Dims out{{Dim::q_heads, 8}, {Dim::head_dim, 128}, {Dim::embed, 1024}};
  const Dims query{{Dim::embed, 1024}, {Dim::q_heads, 8}, {Dim::head_dim, 128}};
  EXPECT_EQ(sum(out, 2, "fsdp=4"), CollectiveKind::reduce_scatter) << "256 columns";
  EXPECT_EQ(sum(out, 2, "fsdp=8"), CollectiveKind::all_reduce) << "128";
  EXPECT_EQ(sum(out, 2, "fsdp=16"), CollectiveKind::reduce_scatter)
      << "64 are no whole tile: it lies turned, and is scattered by rows";
  EXPECT_EQ(sum(out, 2, "fsdp=128"), CollectiveKind::all_reduce) << "8 rows";
  EXPECT_EQ(sum(query, 0, "fsdp=64"), CollectiveKind::reduce_scatter) << "16 rows";
  EXPECT_EQ(sum(query, 0, "fsdp=128"), CollectiveKind::all_reduce) << "8 rows";
  EXPECT_EQ(sum({{Dim::mlp, 2048}, {Dim::embed, 1024}}, 1, "fsdp=8"), CollectiveKind::all_reduce);
  EXPECT_EQ(sum({{Dim::embed, 1024}, {Dim::mlp, 2048}}, 0, "fsdp=128"), CollectiveKind::reduce_scatter)
      << "rows of a matrix are padded";
  EXPECT_EQ(sum({{Dim::vocab, 4096}, {Dim::embed, 1024}}, 1, "fsdp=8"), CollectiveKind::reduce_scatter);
}

// The psum of experts' gradients on the ragged path: 32 rows of wi_0 and 32 columns of wo for each of 16 devices.
TEST(ScatteredRows, OfExpertsThatAreNoEvenNumberAreSummedWhole) {
  const auto sum_of = [](const char* weight, const Compiler& compiler) {
    TrainConfig config = toy_config(1, 1024);
    config.moe_path = MoePath::ragged;
    for (const auto& c : run({toy_mixtral(), config, "default", "fsdp=16", compiler}).collectives)
      if (c.phase == Phase::backward && c.parameter && c.op.ends_with(weight)) return c.kind;
    throw InternalError("no sum of the gradient of the experts");
  };
  const Compiler even = with(plain_compiler(), Habit::scatters_even_tiles_of_experts);
  EXPECT_EQ(sum_of("MoeBlock_0/wi_0", even), CollectiveKind::reduce_scatter);
  EXPECT_EQ(sum_of("MoeBlock_0/wo", even), CollectiveKind::all_reduce);
  EXPECT_EQ(sum_of("MoeBlock_0/wo", plain_compiler()), CollectiveKind::reduce_scatter);
}

}  // namespace
}  // namespace shardplan
