#pragma once
// The cells of a sweep, in the order of the answer: models, their machines, sizes.
#include <planner/sweep/sweep.hpp>
#include <shardplan/plan.hpp>
#include <vector>

namespace shardplan {

/// "64", or "8..8192": the powers of two from one to the other.
struct ChipSpan {
  int from = 0, to = 0;
  bool is_range = false;
};

/// Ascending; none where the span has none.
std::vector<int> powers_of_two(const ChipSpan& span);

/// One cell with what it takes to plan it.
struct GridCell {
  const PlanRequest* request = nullptr;      ///< of its model
  const HardwareProfile* machine = nullptr;  ///< one of the request's
  SweepCell cell;
};

/// Each of the `requests` (one a model) on each of its machines. A count that stands by itself is a cell of every
/// machine, possible or not; a range has those that the machine's slices make, or its first where they make none, so
/// that the machine has a row that says why. Pointers are into `requests`.
std::vector<GridCell> grid_of(const std::vector<PlanRequest>& requests, const std::vector<ChipSpan>& spans);

/// Whether so many slices of the machine, or any number of equal ones, make the chips.
bool has_slices(const HardwareProfile& machine, int chips, std::optional<int> slices);

}  // namespace shardplan
