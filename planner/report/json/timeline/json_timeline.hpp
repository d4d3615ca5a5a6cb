#pragma once
#include <planner/audit/program_timeline.hpp>
#include <planner/report/json/json_values.hpp>

namespace shardplan {

/// "timeline" of audit's document; seconds of a step, all executions together.
OrderedJson json_timeline(const ProgramTimeline& timeline, std::optional<Seconds> expected_step, const Mesh& mesh);

}  // namespace shardplan
