#pragma once
// What a MaxText engineer should be told about a configuration beside its numbers, read off its own evaluation; which
// file finds what is in finding_rules.hpp. What a fix would spare is another evaluation: planner/fixes.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

std::vector<Finding> findings_of(const Configuration& configuration, const BoundProgram& program,
                                 const std::vector<PartitionedBlock>& blocks, const Evaluation& evaluation);

/// The one of them that keeps MaxText from starting, weights-not-sharded; worded only where it holds.
std::optional<Finding> unsharded_weights(const Configuration& configuration, const BoundProgram& program,
                                         const std::vector<PartitionedBlock>& blocks,
                                         const std::vector<Collective>& collectives);

}  // namespace shardplan
