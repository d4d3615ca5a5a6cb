#pragma once
// An earlier answer of `check`, as --format json or sarif wrote it.
#include <planner/check/judge.hpp>
#include <string>

namespace shardplan {

/// Throws InputError on a file that can't be read, or is neither form.
Baseline read_baseline(const std::string& path);

}  // namespace shardplan
