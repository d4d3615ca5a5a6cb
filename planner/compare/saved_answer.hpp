#pragma once
// A plan's or explain's JSON answer, read back for a comparison.
#include <planner/compare/compare_answer.hpp>
#include <string>

namespace shardplan {

/// The evaluation of a file that `explain --format json` wrote, or the best recommended one of `plan`'s. Its program and
/// configuration are gone: counts, memory, time and arguments are what the file says. Throws InputError on anything else.
ComparedRow read_saved_answer(const std::string& path);

}  // namespace shardplan
