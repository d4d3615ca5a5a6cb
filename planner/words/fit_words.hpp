#pragma once
// Whether a run fits, in words.
#include <shardplan/evaluation.hpp>
#include <string_view>

namespace shardplan {

/// "fits", "may fit or not", "does not fit"
std::string_view in_words(Fit fit);

/// Of memory that is marginal: "may fit or not", or what is sure where a part of the device is to stay free: "fits, but
/// leaves less free than asked". Pages say the same (planner/report/html/page/fit.js).
std::string_view marginal_verdict(const MemoryUse& memory);

}  // namespace shardplan
