#pragma once
// How far predicted memory has been off on recorded programs: the widths of the ranges that compilers/*.json carry as
// memory_error. Of what is not argument, recorded / predicted − 1; arguments are exact.
#include <planner/validate/recorded_program.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct MemoryRange {
  std::string family;  ///< "XLA:GPU"
  MoePath path = MoePath::none;
  MemoryError error;
};

/// By compiler family and MoE path, of every family that has records. From enough_records on the ends are the 5th and
/// 95th percentile; with fewer, the path's extremes, and at least those of its whole family and of each path with enough:
/// what few programs show is known no better than what many do. Rounded outwards to 0.1%, and never above 0 (low) or below
/// 0 (high).
std::vector<MemoryRange> memory_ranges(const std::vector<RecordedProgram>& records);

/// From so many on the extremes of random draws lie beyond the 5th (the 95th) percentile with 95% certainty:
/// 0.95^n <= 0.05 (S. S. Wilks, Determination of sample sizes for setting tolerance limits, 1941).
inline constexpr std::size_t enough_records = 59;

}  // namespace shardplan
