#pragma once
// Binds a program's constraints to mesh axes: every named tensor gets its PartitionSpec from the rules in force.
#include <optional>
#include <rules/resolve.hpp>
#include <shardplan/bound_program.hpp>
#include <string>

namespace shardplan {

/// The rule that splits experts: `exp`; a batch-split model's rules have `expert_only` alone.
std::string_view expert_rule(const RuleSet& rules);

/// Mesh axes over which experts are split: those of that rule without fsdp, which only shards the stored weights
/// (SHARDING.md section 7, #3988).
AxisList expert_axes(const RuleSet& rules, const Mesh& mesh);

/// All of a program that binding it depends on. Equal texts: equal specs on every mesh.
std::string constraints_of(const Program& program);

/// Binds programs to one mesh. Layers outside a pipeline use the rules in which stages act as data parallelism.
class Binder {
 public:
  /// `mesh` must outlive the binder and what it binds.
  Binder(const RuleSet& rules, const Mesh& mesh);
  /// `program` must outlive the result.
  BoundProgram bind(const Program& program) const;
  /// The same, faster: `other` is what it bound of a program of equal constraints_of(): another batch, another schedule.
  BoundProgram rebind(const Program& program, BoundProgram other) const;

 private:
  const Mesh* mesh_;
  Resolver inside_;
  std::optional<Resolver> outside_;  ///< with stages
  AxisList expert_axes_;
};

/// One program. `program` and `mesh` must outlive the result.
BoundProgram bind_program(const Program& program, const RuleSet& rules, const Mesh& mesh);

}  // namespace shardplan
