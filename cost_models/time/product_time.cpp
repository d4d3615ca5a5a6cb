#include <algorithm>
#include <cmath>
#include <cost_models/time/product_time.hpp>

namespace shardplan {
namespace {

constexpr double row_tile = 512;    // MaxText configs/base.yml: wi_tile_fwd_batch_seq and the five others like it
constexpr double unit_width = 128;  // lanes of a TPU register (jax.readthedocs.io, pallas/tpu/details): less is filled up

/// Where a size lies among the table's: the index below, and how far from there to the next (0 … 1).
struct Place {
  std::size_t below;
  double part;
};

Place place_of(double size, const std::vector<double>& sizes) {
  if (size <= sizes.front()) return {0, 0};
  if (size >= sizes.back()) return {sizes.size() - 2, 1};
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), size);
  const auto below = static_cast<std::size_t>(above - sizes.begin()) - 1;
  if (size == sizes[below]) return {below, 0};
  return {below, std::log(size / sizes[below]) / std::log(sizes[below + 1] / sizes[below])};
}

/// How unlike the limits of a table and of the program are; 0 stands for the compiler's default.
double distance(double of_table, double given) {
  if (of_table == given) return 0;
  if (of_table == 0 || given == 0) return 1e9;
  return std::abs(std::log(of_table / given));
}

}  // namespace

const ProductTable* product_table(const HardwareProfile& hardware, const Compiler& compiler, DType operands) {
  const Bytes limit = compiler.setting(CompilerSetting::scoped_vmem_limit).value_or(Bytes{});
  const double given = static_cast<double>(limit.value);
  const ProductTable* nearest = nullptr;
  for (const ProductTable& table : hardware.product_tables)
    if (table.operands == operands && (!nearest || distance(table.scoped_vmem_limit, given) <
                                                       distance(nearest->scoped_vmem_limit, given)))
      nearest = &table;
  return nearest;
}

double share_of_peak(const ProductTable& table, const MatrixShape& shape) {
  const std::size_t count = table.sizes.size();
  const Place places[] = {place_of(shape.m, table.sizes), place_of(shape.n, table.sizes),
                          place_of(shape.k, table.sizes)};
  double share = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::size_t index = 0;
    for (unsigned dim = 0; dim < 3; ++dim) {
      const bool above = (corner >> dim & 1U) != 0;
      weight *= above ? places[dim].part : 1 - places[dim].part;
      index = index * count + places[dim].below + (above ? 1 : 0);
    }
    if (weight > 0) share += weight * table.shares[index];
  }
  const auto filled = [](double size) { return std::min(1.0, size / unit_width); };
  return share * filled(shape.m) * filled(shape.n) * filled(shape.k);
}

double fused_share(const HardwareProfile& hardware, const Compiler& compiler) {
  const ProductTable* table = product_table(hardware, compiler, DType::bf16);
  return table ? table->fused_share : 1;
}

double partial_tiles(const MatrixShape& rows) {
  return rows.m > 0 ? 1 + (rows.groups - 1) * row_tile / std::max(rows.m, row_tile) : 1;
}

}  // namespace shardplan
