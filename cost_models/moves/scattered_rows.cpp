#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/moves/scattered_rows.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t more_pieces = 4;         ///< than devices, of the budget (over 2, 4, 8, 16 and 128 devices)
constexpr std::int64_t least_of_a_piece = 4;    ///< a share of what fits; a ninth is all-reduced, half of it is not
constexpr std::int64_t devices_of_a_square = 4;
constexpr std::int64_t most_permutes = 64;  ///< 7 rows of 8 over 512 devices; not 85, 20 of 24, nor 96, 10 of 16 over 256

Bytes piece_budget(const Compiler& compiler) {
  const auto& larger = compiler.larger_pieces;
  const auto vmem = compiler.setting(CompilerSetting::scoped_vmem_limit);
  if (!larger || vmem < larger->vmem) return compiler.piece_budget;
  const auto beyond = static_cast<double>((*vmem - larger->vmem).value);
  return larger->budget + Bytes{static_cast<std::int64_t>(larger->growth * beyond)};
}

/// An even number of tiles in as few rows as may be.
std::int64_t least_piece(std::int64_t row_tiles) { return row_tiles % 2 == 0 ? row_tiles : 2 * row_tiles; }

/// Rows of tiles in as few pieces of whole rows as fit; at least the least does.
std::int64_t rows_in_pieces(std::int64_t rows, std::int64_t row_tiles, std::int64_t most_tiles) {
  for (std::int64_t pieces = divided_up(rows, most_tiles / row_tiles);; ++pieces) {
    const std::int64_t height = rounded_up(divided_up(rows, pieces), least_piece(row_tiles) / row_tiles);
    if (height * row_tiles <= most_tiles) return divided_up(rows, height) * height;
  }
}

/// Rows of tiles that are longer than a piece, in equal parts.
bool divides_into_pieces(std::int64_t row_tiles, std::int64_t most_tiles) {
  for (std::int64_t part = most_tiles; part > 0 && part * least_of_a_piece >= most_tiles; --part)
    if (row_tiles % part == 0 && least_piece(part) <= most_tiles) return true;
  return false;
}

/// Halves, quarters and so on of a row of tiles: the first that fits.
std::int64_t fitting_part(std::int64_t row_tiles, std::int64_t most_tiles) {
  while (row_tiles > most_tiles && row_tiles % 2 == 0) row_tiles /= 2;
  return row_tiles;
}

/// Whether rows of tiles come out in equal pieces without more of them: some of the rows, or all of them in halves, quarters
/// and so on, of an even number of tiles, more than half of what fits and two (30 of 57 is not enough, 60 of 110 is); of a
/// number that four doesn't divide more than three fifths (34 of 57 and 66 of 114 are not enough, 38 and 70 are).
bool comes_out_in_pieces(std::int64_t rows, std::int64_t row_tiles, std::int64_t most_tiles) {
  if (rows * row_tiles <= most_tiles) return true;
  const auto is_enough = [&](std::int64_t piece) {
    if (piece % 2 != 0 || 2 * piece <= most_tiles + more_pieces) return false;
    return piece % 4 == 0 || 5 * piece > 3 * most_tiles;
  };
  for (std::int64_t height = rows - 1; height > 0; --height)
    if (rows % height == 0 && height * row_tiles <= most_tiles) return is_enough(height * row_tiles);
  const std::int64_t part = fitting_part(row_tiles, most_tiles);
  return part <= most_tiles && is_enough(part);
}

/// Whether rows that are whole tiles do, or parts of one (86 tiles don't where 57 fit, 224 do where 110 do).
bool is_made_of_pieces(std::int64_t row_tiles, std::int64_t most_tiles) {
  const std::int64_t part = fitting_part(row_tiles, most_tiles);
  return least_piece(part) <= most_tiles && (part == row_tiles || part * least_of_a_piece >= most_tiles);
}

/// How far the first of a device's rows is from its place, in devices, where each has been given `padded` of the sum and
/// keeps `mine`.
std::int64_t distance(std::int64_t device, std::int64_t mine, std::int64_t padded) {
  return device - device * mine / padded;
}

/// Of those that go furthest, how many rows of a device do.
std::int64_t rows_that_go_furthest(std::int64_t mine, std::int64_t padded, std::int64_t devices) {
  const std::int64_t largest = distance(devices - 1, mine, padded);
  std::int64_t furthest = 0;
  for (std::int64_t device = devices - 1; device > 0 && distance(device, mine, padded) == largest; --device)
    furthest = std::max(furthest, std::min(mine, (device - largest + 1) * padded - device * mine));
  return furthest;
}

/// Over several axes a permute by a multiple of the minor ones' devices moves along the others alone.
AxisList axes_of_distance(std::int64_t devices, const AxisList& axes, const Mesh& mesh) {
  AxisList moved = axes;
  while (moved.size() > 1 && devices % mesh.axes[moved.back()].size() == 0) {
    devices /= mesh.axes[moved.back()].size();
    moved = AxisList(moved.begin(), std::next(moved.begin(), static_cast<std::ptrdiff_t>(moved.size()) - 1));
  }
  return moved;
}

/// A permute for each distance, all of what a device was given, but of the largest distance only the rows that go so far.
void put_in_place(Moves& moves, const Move& scatter, std::int64_t mine, std::int64_t padded, Bytes row, std::int64_t devices,
                  const Mesh& mesh) {
  const std::int64_t largest = distance(devices - 1, mine, padded);
  const std::size_t first = moves.size();
  for (std::int64_t far = 1; far <= largest; ++far) {
    const Bytes bytes = row * (far < largest ? padded : rows_that_go_furthest(mine, padded, devices));
    const AxisList axes = axes_of_distance(far, scatter.axes, mesh);
    const auto alike = std::find_if(moves.begin() + first, moves.end(), [&](const Move& move) { return move.axes == axes; });
    if (alike == moves.end())
      moves.push_back({CollectiveKind::collective_permute, axes, bytes, scatter.parameter});
    else
      alike->bytes += bytes;
  }
}

/// Habit::pads_rows_to_tiles. Whole rows of tiles are scattered where they come out in pieces; others are padded where no
/// more permutes than `most_permutes` put them in their places.
Moves scattered_in_tiles(const Move& scatter, std::int64_t rows, std::int64_t columns, std::int64_t devices,
                         const Mesh& mesh, const Compiler& compiler) {
  const std::int64_t mine = rows / devices, padded = rounded_up(mine, sublanes);
  const Bytes row{scatter.bytes.value / rows};
  const std::int64_t row_tiles = divided_up(columns, lanes);
  const std::int64_t most =
      piece_budget(compiler).value / (devices + more_pieces) / (sublanes * lanes * row.value / columns);
  const bool whole = mine == padded;
  const bool scatters = whole ? is_made_of_pieces(row_tiles, most)
                              : distance(devices - 1, mine, padded) <= most_permutes &&
                                    comes_out_in_pieces(padded / sublanes, row_tiles, most);
  Moves moves{scatter};
  if (!scatters) moves.front().kind = CollectiveKind::all_reduce;
  if (whole || !scatters) return moves;
  moves.front().bytes = row * (padded * devices);
  put_in_place(moves, scatter, mine, padded, row, devices, mesh);
  return moves;
}

/// Whether `parts` says so of a dim, but experts', that the axes scatter, and of what a device keeps of it.
template <class Parts>
bool any_scattered(const Tensor& weight, const PartitionSpec& wanted, const AxisList& axes, const Mesh& mesh, Parts parts) {
  for (std::size_t dim = 0; dim < weight.dims.size(); ++dim) {
    if (weight.dims[dim].dim == Dim::experts || common(wanted.dims[dim], axes).empty()) continue;
    if (parts(dim, weight.dims[dim].size / mesh.product(wanted.dims[dim]))) return true;
  }
  return false;
}

/// Whether it is all-reduced, because shards are no whole tiles, or no even number of them, along the dim that is scattered:
/// of experts in a shard_map 16 rows or 256 columns of bfloat16 (Habit::scatters_even_tiles_of_experts); of others 256
/// columns, where they are whole tiles, or 16 rows of attention's features (scatters_even_tiles); 8 rows of what is no
/// matrix (pads_rows_to_tiles). Matrices are scattered by rows otherwise, tables and heads by their words.
bool is_summed_whole(const Tensor& weight, const PartitionSpec& wanted, const AxisList& axes, const Mesh& mesh,
                     InShardMap in_shard_map, const Compiler& compiler) {
  const std::size_t last = weight.dims.size() - 1;
  const bool is_matrix = weight.dims.size() <= 2;
  const bool whole_rows = compiler.has(Habit::pads_rows_to_tiles) && !is_matrix;
  if (whole_rows && any_scattered(weight, wanted, axes, mesh, [](std::size_t, auto share) { return share % sublanes != 0; }))
    return true;
  if (in_shard_map == InShardMap::yes)
    return compiler.has(Habit::scatters_even_tiles_of_experts) &&
           any_scattered(weight, wanted, axes, mesh, [&](std::size_t dim, std::int64_t share) {
             return share % (2 * (dim == last ? lanes : sublanes)) != 0;
           });
  const bool experts_or_words = std::any_of(weight.dims.begin(), weight.dims.end(), [](const TensorDim& dim) {
    return dim.dim == Dim::experts || dim.dim == Dim::vocab;
  });
  return compiler.has(Habit::scatters_even_tiles) && !experts_or_words &&
         any_scattered(weight, wanted, axes, mesh, [&](std::size_t dim, std::int64_t share) {
           const bool columns = dim == last && share % lanes == 0;
           return columns ? are_odd_tiles(share) : !is_matrix && share % (2 * sublanes) != 0;
         });
}

/// Which dim of a matrix is scattered by rows: the other lies along the lanes, the last unless its part on a device is no
/// multiple of them and that of the first is (over 8 devices wo [14336, 3584], 448 columns each, lies turned:
/// gemma2_9b_v6e8_fsdp8; so does wi_0 [2048, 10944], scattered along the lanes: deepseek216bx5_v6e8_ep8_saveqkv_unpacked).
std::optional<std::size_t> scattered_by_rows(const Tensor& weight, const PartitionSpec& wanted, const AxisList& axes,
                                             const Mesh& mesh) {
  if (weight.dims.size() != 2 || weight.dims.back().dim == Dim::vocab) return std::nullopt;
  const auto fits = [&](std::size_t dim) { return local_size(weight.dims[dim], wanted.dims[dim], mesh) % lanes == 0; };
  const std::size_t along_rows = !fits(1) && fits(0) ? 1 : 0;
  if (common(wanted.dims[along_rows], axes).size() != axes.size()) return std::nullopt;
  return along_rows;
}

}  // namespace

std::optional<std::int64_t> scattered_rows(std::int64_t rows, std::int64_t columns, std::int64_t size, std::int64_t devices,
                                           bool in_halves, const Compiler& compiler) {
  const std::int64_t halves = in_halves ? 2 : 1;
  const std::int64_t most = piece_budget(compiler).value / (devices + more_pieces) / halves / (sublanes * lanes * size);
  const std::int64_t row_tiles = divided_up(columns, lanes);
  const std::int64_t mine = divided_up(rows, devices * sublanes * halves);
  const auto whole = [&](std::int64_t of_a_half) { return of_a_half * halves * sublanes * devices; };
  if (least_piece(row_tiles) > most) return divides_into_pieces(row_tiles, most) ? std::optional(whole(mine)) : std::nullopt;
  return whole(rows_in_pieces(mine, row_tiles, most));
}

Moves scattered_in_pieces(const Move& scatter, const Tensor& weight, const PartitionSpec& spec, const PartitionSpec& wanted,
                          const Mesh& mesh, InShardMap in_shard_map, const Compiler& compiler) {
  Moves moves{scatter};
  if (is_summed_whole(weight, wanted, scatter.axes, mesh, in_shard_map, compiler)) {
    moves.front().kind = CollectiveKind::all_reduce;
    return moves;
  }
  const bool to_tiles = compiler.has(Habit::pads_rows_to_tiles);
  if (!to_tiles && !compiler.has(Habit::pads_scattered_rows)) return moves;
  const auto scattered = scattered_by_rows(weight, wanted, scatter.axes, mesh);
  if (!scattered) return moves;
  const std::int64_t devices = mesh.product(scatter.axes);
  const auto of_a_device = [&](std::size_t dim) { return local_size(weight.dims[dim], spec.dims[dim], mesh); };
  const std::int64_t rows = of_a_device(*scattered), columns = of_a_device(1 - *scattered);
  if (to_tiles) return scattered_in_tiles(scatter, rows, columns, devices, mesh, compiler);
  const bool whole_square = devices == devices_of_a_square && devices == mesh.devices();
  const std::int64_t size = divided_up(scatter.bytes.value, rows * columns);
  const auto padded = scattered_rows(rows, columns, size, devices, whole_square, compiler);
  if (!padded) moves.front().kind = CollectiveKind::all_reduce;
  if (!padded || *padded == rows) return moves;
  const Bytes row{scatter.bytes.value / rows};
  moves.front().bytes = row * *padded;
  // The last device's rows begin furthest from their place.
  moves.push_back({CollectiveKind::collective_permute, scatter.axes, row * ((*padded - rows) / devices * (devices - 1)),
                   scatter.parameter});
  return moves;
}

}  // namespace shardplan
