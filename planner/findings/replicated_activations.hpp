#pragma once
// Rules that leave an axis of the mesh idle: activations that it splits along no dim are computed and kept by every device
// of it. What naming the axis in one of their rules is worth: planner/fixes.
#include <shardplan/bound_program.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/finding.hpp>
#include <vector>

namespace shardplan {

/// One finding an axis and a rule that could take it: its dim divides. Most of them cost nothing as they are, or less than
/// their fix: which axis belongs in which rule only a comparison of both says. A name that no rule has stands as a rule
/// without axes.
std::vector<Finding> replicated_activations(const Configuration& configuration, const LaidOutProgram& program);

}  // namespace shardplan
