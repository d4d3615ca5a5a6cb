#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/moves/scattered_rows.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t more_pieces = 4;         ///< than devices, of the budget (over 2, 4, 8, 16 and 128 devices)
constexpr std::int64_t least_of_a_piece = 4;    ///< a share of what fits; a ninth is all-reduced, half of it is not
constexpr std::int64_t devices_of_a_square = 4;

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

/// Whether rows of tiles come out in equal pieces without more of them: some of the rows, or all of them in halves, quarters
/// and so on, of an even number of tiles, more than half of what fits and two (30 of 57 is not enough, 60 of 110 is).
bool comes_out_in_pieces(std::int64_t rows, std::int64_t row_tiles, std::int64_t most_tiles) {
  if (rows * row_tiles <= most_tiles) return true;
  const auto is_enough = [&](std::int64_t piece) { return piece % 2 == 0 && 2 * piece > most_tiles + more_pieces; };
  for (std::int64_t height = rows - 1; height > 0; --height)
    if (rows % height == 0 && height * row_tiles <= most_tiles) return is_enough(height * row_tiles);
  std::int64_t part = row_tiles;
  while (part > most_tiles && part % 2 == 0) part /= 2;
  return part <= most_tiles && is_enough(part);
}

/// What moves to its place where each device has been given `padded` rows of the sum and keeps `mine`, from the first on: a
/// permute for each distance, all of what a device was given, but of the largest distance only the rows that go so far.
std::int64_t moved_rows(std::int64_t mine, std::int64_t padded, std::int64_t devices) {
  const auto distance = [&](std::int64_t device) { return device - device * mine / padded; };
  const std::int64_t largest = distance(devices - 1);
  std::int64_t furthest = 0;
  for (std::int64_t device = devices - 1; device > 0 && distance(device) == largest; --device)
    furthest = std::max(furthest, std::min(mine, (device - largest + 1) * padded - device * mine));
  return largest == 0 ? 0 : (largest - 1) * padded + furthest;
}

/// Habit::pads_rows_to_tiles; over two axes they are all-reduced as they are (plan_deepseek2236b_tpu7x_256).
Moves scattered_in_tiles(const Move& scatter, std::int64_t rows, std::int64_t columns, std::int64_t devices,
                         const Compiler& compiler) {
  const std::int64_t mine = rows / devices, padded = rounded_up(mine, tile_height(mine));
  const Bytes row{scatter.bytes.value / rows};
  const std::int64_t tile_bytes = sublanes * lanes * row.value / columns;
  const std::int64_t most = compiler.piece_budget.value / (devices + more_pieces) / tile_bytes;
  if (mine == padded || scatter.axes.size() > 1) return {scatter};
  if (!comes_out_in_pieces(divided_up(padded, sublanes), divided_up(columns, lanes), most)) return {scatter};
  Moves moves{scatter};
  moves.front().bytes = row * (padded * devices);
  const Bytes moved = row * moved_rows(mine, padded, devices);
  moves.push_back({CollectiveKind::collective_permute, scatter.axes, moved, scatter.parameter});
  return moves;
}

/// Which dim of a matrix is scattered by rows: the other lies along the lanes, the last unless its part on a device is no
/// multiple of them and that of the first is (over 8 devices wo [14336, 3584], 448 columns each, lies turned:
/// gemma2_9b_v6e8_fsdp8; so does wi_0 [2048, 10944], scattered along the lanes: deepseek216bx5_v6e8_ep8_saveqkv_unpacked).
std::optional<std::size_t> scattered_by_rows(const Tensor& weight, const PartitionSpec& wanted, const AxisList& axes,
                                             const Mesh& mesh) {
  if (weight.dims.size() != 2 || weight.dims.back().dim == Dim::vocab) return std::nullopt;
  const auto fits = [&](std::size_t dim) { return weight.dims[dim].size / mesh.product(wanted.dims[dim]) % lanes == 0; };
  const std::size_t along_rows = !fits(1) && fits(0) ? 1 : 0;
  if (common(wanted.dims[along_rows], axes).size() != axes.size()) return std::nullopt;
  return along_rows;
}

}  // namespace

std::optional<std::int64_t> scattered_rows(std::int64_t rows, std::int64_t columns, std::int64_t size, std::int64_t devices,
                                           bool in_halves, const Compiler& compiler) {
  const std::int64_t halves = in_halves ? 2 : 1;
  const std::int64_t most = compiler.piece_budget.value / (devices + more_pieces) / halves / (sublanes * lanes * size);
  const std::int64_t row_tiles = divided_up(columns, lanes);
  const std::int64_t mine = divided_up(rows, devices * sublanes * halves);
  const auto whole = [&](std::int64_t of_a_half) { return of_a_half * halves * sublanes * devices; };
  if (least_piece(row_tiles) > most) return divides_into_pieces(row_tiles, most) ? std::optional(whole(mine)) : std::nullopt;
  return whole(rows_in_pieces(mine, row_tiles, most));
}

Moves scattered_in_pieces(const Move& scatter, const Tensor& weight, const PartitionSpec& spec, const PartitionSpec& wanted,
                          const Mesh& mesh, const Compiler& compiler) {
  Moves moves{scatter};
  const bool to_tiles = compiler.has(Habit::pads_rows_to_tiles);
  if (!to_tiles && !compiler.has(Habit::pads_scattered_rows)) return moves;
  const auto scattered = scattered_by_rows(weight, wanted, scatter.axes, mesh);
  if (!scattered) return moves;
  const std::int64_t devices = mesh.product(scatter.axes);
  const auto size = [&](std::size_t dim) { return weight.dims[dim].size / mesh.product(spec.dims[dim]); };
  const std::int64_t rows = size(*scattered), columns = size(1 - *scattered);
  if (to_tiles) return scattered_in_tiles(scatter, rows, columns, devices, compiler);
  const bool whole_square = devices == devices_of_a_square && devices == mesh.devices();
  const auto padded = scattered_rows(rows, columns, scatter.bytes.value / (rows * columns), devices, whole_square, compiler);
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
