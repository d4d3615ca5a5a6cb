#pragma once
// Rules that split activations over an axis along another dim than the one where it is wanted: they are exchanged on the
// way.
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/finding.hpp>
#include <vector>

namespace shardplan {

/// One finding an axis and a rule that leaves it out, or comes behind the one that takes it, of a dim that an exchange takes
/// the axis from or to, where these exchanges take `least` in a step. What mending the rule is worth: planner/fixes.
std::vector<Finding> resharded_activations(const Configuration& configuration, const LaidOutProgram& program,
                                           const std::vector<Collective>& collectives, Seconds least);

}  // namespace shardplan
