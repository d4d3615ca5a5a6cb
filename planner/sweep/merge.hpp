#pragma once
// The shards of a sweep as one.
#include <planner/sweep/sweep.hpp>

namespace shardplan {

/// A shard with the name of its file, for errors.
struct NamedSweep {
  std::string file;
  SweepAnswer answer;
};

/// "--chips is 8..64 in one, 8..32 in the other"; the first flag in which they differ.
std::string difference(const SweepRequestWords& one, const SweepRequestWords& other);

/// All rows by place, as if the sweep had been run whole. Throws InputError when two files answer different requests, one
/// is not complete, two have the same cell, or cells are missing (naming the shards).
SweepAnswer merge(const std::vector<NamedSweep>& shards);

}  // namespace shardplan
