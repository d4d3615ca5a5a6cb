#include <algorithm>
#include <bit>
#include <cost_models/layouts/tiles.hpp>
#include <limits>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

LocalSizes local_sizes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh) {
  LocalSizes sizes;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    sizes.push_back(local_size(tensor.dims[i], spec.dims[i], mesh));
  return sizes;
}

std::int64_t product(const LocalSizes& sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all *= size;
  return all;
}

/// Of `all` elements, with dim `minor` along the lanes and `second` along the rows of tiles.
std::int64_t elements_in_tiles(const LocalSizes& sizes, std::int64_t all, std::size_t minor, std::size_t second) {
  if (all == 0) return 0;
  return all / sizes[minor] / sizes[second] * rounded_up(sizes[minor], lanes) *
         rounded_up(sizes[second], tile_height(sizes[second]));
}

struct Tiles {
  std::size_t minor, second;  ///< dims along the lanes and along the rows
};

/// Of those that waste least the last dims: row-major if may be. One row makes no tile.
Tiles least_wasteful(const LocalSizes& sizes) {
  const std::int64_t all = product(sizes);
  Tiles best{sizes.size() - 1, sizes.size() - 2};
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t minor = sizes.size(); minor-- > 0;)
    for (std::size_t second = sizes.size(); second-- > 0;) {
      if (second == minor || sizes[second] == 1) continue;
      const std::int64_t elements = elements_in_tiles(sizes, all, minor, second);
      if (elements < least) least = elements, best = {minor, second};
    }
  return best;
}

std::int64_t weight_elements(LocalSizes sizes, std::int64_t layers) {
  if (layers > 1) sizes.push_back(layers);
  return divided_up(tiled_elements(sizes), layers);
}

std::int64_t activation_elements(const Tensor& tensor, const LocalSizes& sizes) {
  const std::int64_t all = product(sizes);
  if (all == 0 || (!is_of_heads(tensor) && sizes.back() < lanes)) return all;
  const std::int64_t whole_lanes = all / sizes.back() * rounded_up(sizes.back(), lanes);
  if (sizes.size() < 2 || tensor.dims[sizes.size() - 2].dim != Dim::top_k) return whole_lanes;
  const std::size_t rows = sizes.size() - 2;
  return whole_lanes / sizes[rows] * rounded_up(sizes[rows], tile_height(sizes[rows]));
}

}  // namespace

bool is_of_heads(const Tensor& tensor) {
  const Dim last = tensor.dims.back().dim;
  return last == Dim::head_dim || last == Dim::value_dim;
}

std::int64_t tile_height(std::int64_t rows) {
  return std::min(sublanes, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows))));
}

std::int64_t tiled_elements(const LocalSizes& sizes) {
  const std::int64_t all = product(sizes);
  if (sizes.size() < 2 || all == 0) return all;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t minor = 0; minor < sizes.size(); ++minor)
    for (std::size_t second = 0; second < sizes.size() && least > all; ++second)  // none fills less than all
      if (second != minor) least = std::min(least, elements_in_tiles(sizes, all, minor, second));
  return least;
}

bool lies_in_order(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh, const Compiler& compiler,
                   std::int64_t layers) {
  if (!compiler.has(Habit::pads_to_tiles) || weight.dims.size() < 2) return true;
  LocalSizes sizes = local_sizes(weight, spec, mesh);
  const std::size_t last = sizes.size() - 1;
  if (layers > 1) sizes.push_back(layers);
  const std::int64_t all = product(sizes), least = tiled_elements(sizes);
  return elements_in_tiles(sizes, all, last, last - 1) == least ||
         (layers > 1 && elements_in_tiles(sizes, all, last, last + 1) == least);
}

bool lies_layer_major(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh, std::int64_t layers) {
  constexpr std::size_t first = 0, stack = 1;
  const LocalSizes own = local_sizes(weight, spec, mesh);
  if (own.size() < 2 || own[first] == 1 || layers == 1) return true;
  LocalSizes sizes;
  sizes.push_back(own[first]);
  sizes.push_back(layers);
  for (std::size_t dim = 1; dim < own.size(); ++dim) sizes.push_back(own[dim]);
  const Tiles tiles = least_wasteful(sizes);
  return tiles.minor != stack && tiles.second != stack && (tiles.minor == first || tiles.second == first);
}

std::int64_t row_elements(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh) {
  const auto sizes = local_sizes(tensor, spec, mesh);
  const std::int64_t all = product(sizes);
  return all == 0 ? 0 : all / sizes.back() * rounded_up(sizes.back(), lanes);
}

std::int64_t stored_elements(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh, const Compiler& compiler,
                             std::int64_t layers) {
  if (!compiler.has(Habit::pads_to_tiles) || tensor.dims.empty()) return local_elements(tensor.dims, spec, mesh);
  const auto sizes = local_sizes(tensor, spec, mesh);
  return tensor.parameter ? weight_elements(sizes, layers) : activation_elements(tensor, sizes);
}

Bytes stored_bytes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh, const Compiler& compiler) {
  return Bytes{stored_elements(tensor, spec, mesh, compiler) * size_of(tensor.dtype)};
}

}  // namespace shardplan
