#pragma once
// What a MaxText engineer should be told about a configuration beside its numbers: ids are INTERFACE.md's.
#include <cost_models/partition/partitioned_block.hpp>
#include <planner/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

std::vector<Finding> findings_of(const Configuration& configuration, const BoundProgram& program,
                                 const std::vector<PartitionedBlock>& blocks, const Evaluation& evaluation);

}  // namespace shardplan
