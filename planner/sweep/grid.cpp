#include <bit>
#include <hardware/machine_of_chips.hpp>
#include <planner/sweep/grid.hpp>
#include <set>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::vector<int> counts_in(const ChipSpan& span, const HardwareProfile& machine, std::optional<int> slices) {
  if (!span.is_range) return {span.from};
  std::vector<int> all = powers_of_two(span), possible;
  for (const int chips : all)
    if (has_slices(machine, chips, slices)) possible.push_back(chips);
  if (possible.empty() && !all.empty()) possible.push_back(all.front());
  return possible;
}

}  // namespace

std::vector<int> powers_of_two(const ChipSpan& span) {
  std::vector<int> powers;
  for (auto power = std::bit_ceil(static_cast<unsigned>(span.from)); power <= static_cast<unsigned>(span.to); power *= 2)
    powers.push_back(static_cast<int>(power));
  return powers;
}

bool has_slices(const HardwareProfile& machine, int chips, std::optional<int> slices) try {
  machine_of(machine, chips, slices);
  return true;
} catch (const InputError&) {
  return false;
}

std::vector<GridCell> grid_of(const std::vector<PlanRequest>& requests, const std::vector<ChipSpan>& spans) {
  std::vector<GridCell> grid;
  for (const PlanRequest& request : requests)
    for (const HardwareProfile& machine : request.machines) {
      std::set<int> counts;
      for (const ChipSpan& span : spans)
        for (const int chips : counts_in(span, machine, request.slices)) counts.insert(chips);
      for (const int chips : counts) grid.push_back({&request, &machine, {request.model.name, machine.name, chips}});
    }
  return grid;
}

}  // namespace shardplan
