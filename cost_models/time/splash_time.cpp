#include <algorithm>
#include <cost_models/time/splash_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

const SplashCycles& cycles_of(const BlockLoop& loop, const SplashTables& tables) {
  for (const SplashCycles& cycles : tables.kernels)
    if (cycles.library == loop.library && cycles.kernel == loop.kernel) return cycles;
  throw InternalError("a splash attention kernel without cycles");
}

/// 0 at the smaller size, 1 at the larger.
double place_of(double size, const std::array<double, 2>& sizes) { return (size - sizes[0]) / (sizes[1] - sizes[0]); }

/// Where a loop lies among the corners of the tables; heads are as wide as registers, at least.
class TablePlace {
 public:
  TablePlace(double lanes, std::int64_t queries, std::int64_t keys, const SplashTables& tables)
      : places_{place_of(std::max(lanes, tables.heads[0]), tables.heads),
                place_of(static_cast<double>(queries), tables.queries), place_of(static_cast<double>(keys), tables.keys)} {}

  double of(const SplashCycles::Corners& corners) const {
    double all = 0;
    for (unsigned corner = 0; corner < corners.size(); ++corner) {
      double weight = 1;
      for (unsigned dim = 0; dim < places_.size(); ++dim)
        weight *= (corner >> (2 - dim) & 1U) != 0 ? places_[dim] : 1 - places_[dim];
      all += weight * corners[corner];
    }
    return std::max(all, 0.0);
  }

 private:
  std::array<double, 3> places_;
};

Seconds time_of(const BlockLoop& loop, const HardwareProfile& hardware) {
  const SplashTables& tables = *hardware.splash;
  const SplashCycles& cycles = cycles_of(loop, tables);
  const BlockSizes& block = loop.block;
  const TablePlace place(loop.lanes, block.queries, block.keys, tables);
  const TablePlace multiplied(loop.lanes, block.queries, block.multiplied_keys, tables);
  const double times = static_cast<double>(block.keys) / static_cast<double>(block.multiplied_keys);
  const double flops = 2.0 * products_of(loop.kernel) * static_cast<double>(block.queries * block.keys) * loop.lanes;
  const double least = flops / (hardware.peak_bf16.value / tables.cores) * hardware.clock->value;
  const double of_head = loop.rows * place.of(cycles.row) + loop.steps * place.of(cycles.step) +
                         (loop.visited - loop.masked) * std::max(multiplied.of(cycles.visited) * times, least) +
                         loop.masked * std::max(multiplied.of(cycles.masked) * times, least);
  const int cores = loop.kernel == SplashKernel::forward ? tables.cores : 1;
  return {of_head * loop.heads / cores / hardware.clock->value};
}

}  // namespace

Seconds splash_time(const BlockLoops& loops, const HardwareProfile& hardware) {
  Seconds all{};
  for (const BlockLoop& loop : loops) all += time_of(loop, hardware);
  return all;
}

}  // namespace shardplan
