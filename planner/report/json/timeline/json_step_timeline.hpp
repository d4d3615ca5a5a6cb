#pragma once
#include <planner/report/json/json_values.hpp>

namespace shardplan {

/// `time.timeline` of an evaluation that has one.
OrderedJson json_step_timeline(const Evaluation& evaluation);

}  // namespace shardplan
