#pragma once
// A sweep's JSON document (planner/report/sweep_report.hpp, sweep_json) as the answer that it was printed from.
#include <planner/sweep/sweep.hpp>
#include <string_view>

namespace shardplan {

/// `file` names it in errors. Throws InputError on anything but a sweep's document.
SweepAnswer read_sweep(std::string_view text, const std::string& file);

}  // namespace shardplan
