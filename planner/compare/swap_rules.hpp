#pragma once
// A run under other sharding rules.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// The same run under `chosen`, changed by model and arguments as MaxText does; empty where an axis above 1 of its mesh
/// is not one of theirs.
std::optional<Evaluation> with_rules(const Configuration& run, const RuleSet& chosen);

}  // namespace shardplan
