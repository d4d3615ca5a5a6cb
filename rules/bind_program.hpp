#pragma once
// Binds a program's constraints to mesh axes: every named tensor gets its PartitionSpec from the rules in force.
#include <cstdint>
#include <mutex>
#include <optional>
#include <rules/resolve.hpp>
#include <shardplan/bound_program.hpp>
#include <string>
#include <unordered_map>

namespace shardplan {

/// The rule that splits experts: `exp`; a batch-split model's rules have `expert_only` alone.
std::string_view expert_rule(const RuleSet& rules);

/// Mesh axes over which experts are split: those of that rule without fsdp, which only shards the stored weights
/// (SHARDING.md section 7, #3988).
AxisList expert_axes(const RuleSet& rules, const Mesh& mesh);

/// All of a program that binding it depends on. Equal texts: equal specs on every mesh.
std::string constraints_of(const Program& program);

/// What binding takes of a rule set, for meshes of the same axes: all of them with stages, or none.
struct BindingRules {
  /// Throws as CompiledRules does.
  BindingRules(const RuleSet& rules, const Mesh& any);
  std::shared_ptr<const CompiledRules> inside;
  std::shared_ptr<const CompiledRules> outside;  ///< in layers outside a pipeline; null: the mesh has no stages
  std::string_view experts;                      ///< expert_rule()
};

/// Binds programs to one mesh and to any other with the same axes above 1 (split_axes). Layers outside a pipeline use the
/// rules in which stages act as data parallelism.
class Binder {
 public:
  Binder(const BindingRules& rules, const Mesh& mesh);
  Binder(const RuleSet& rules, const Mesh& mesh) : Binder(BindingRules(rules, mesh), mesh) {}
  /// `program` and `mesh` must outlive the result.
  BoundProgram bind(const Program& program, const Mesh& mesh) const;
  /// The same of a program whose constraints_of() are `constraints`, which are bound once. Several threads may ask at once.
  BoundProgram bind(const Program& program, const std::string& constraints, const Mesh& mesh) const;
  /// Likewise, faster: `other` is what it bound of a program of equal constraints_of(): another batch, another schedule.
  static BoundProgram rebind(const Program& program, BoundProgram other);
  /// One tensor, by the rules outside of pipelines' layers.
  PartitionSpec resolve(const LogicalAxes& names) const { return inside_.resolve(names); }
  const AxisList& expert_axes() const { return expert_axes_; }

 private:
  Resolver inside_;
  std::optional<Resolver> outside_;  ///< with stages
  AxisList expert_axes_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, BoundProgram> bound_;  ///< by constraints, of programs and meshes that may be gone
};

/// One program. `program` and `mesh` must outlive the result.
BoundProgram bind_program(const Program& program, const RuleSet& rules, const Mesh& mesh);

}  // namespace shardplan
