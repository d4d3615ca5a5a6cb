#pragma once
// Binds a program's constraints to mesh axes: every named tensor gets its PartitionSpec from the rules in force.
#include <shardplan/bound_program.hpp>

namespace shardplan {

/// Mesh axes over which experts are split: those of rule `exp` without fsdp, which only shards the stored weights
/// (SHARDING.md section 7, #3988).
AxisList expert_axes(const RuleSet& rules, const Mesh& mesh);

/// `program`, `rules` and `mesh` must outlive the result. Layers outside a pipeline use the rules in which stages act
/// as data parallelism.
BoundProgram bind_program(const Program& program, const RuleSet& rules, const Mesh& mesh);

}  // namespace shardplan
