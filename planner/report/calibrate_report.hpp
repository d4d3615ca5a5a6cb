#pragma once
// The answer of `calibrate`: the figures before and after, those that stay, and how far predictions are off by file. The
// profile itself goes to -o FILE.
#include <planner/calibrate/calibrate.hpp>
#include <planner/report/style.hpp>

namespace shardplan {

std::string calibrate_text(const CalibratedMachine& machine, const Style& style);
std::string calibrate_json(const CalibratedMachine& machine);

/// "all-gather of 67.1 MB among 8 devices", "product of 4096 x 4096 x 4096 in bfloat16".
std::string measured_words(const Measurement& measurement);

}  // namespace shardplan
