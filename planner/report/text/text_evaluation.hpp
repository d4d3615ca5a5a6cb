#pragma once
// One configuration on a terminal: mesh and rules, the command to paste, time and memory with their parts, collectives,
// findings.
#include <planner/report/style.hpp>
#include <shardplan/evaluation.hpp>
#include <string>

namespace shardplan {

/// `explain`: every collective with its reason.
std::string explanation_text(const Evaluation& evaluation, const Style& style);

/// The same without the reasons, collectives summed: the part of `plan` about the recommended configuration.
std::string summary_text(const Evaluation& evaluation, const Style& style);

}  // namespace shardplan
