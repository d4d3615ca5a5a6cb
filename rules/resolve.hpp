#pragma once
// Logical axes → PartitionSpec, exactly as flax's logical_to_mesh_axes and MaxText's clean-up after it do:
//   for each rule in list order:                       priority is the order of the rules, not of the tensor's dims
//     if its name is a dim's that is still unassigned, and none of its axes is used by another dim:
//       the dim takes all of the rule's axes           all or nothing; an empty list settles the dim as replicated
//   then axes of size 1, and axes the mesh does not have, are dropped
// Dropping comes last, so axes of size 1 and absent axes still block: with default rules `mlp` takes fsdp_transpose on
// any mesh, and `embed` of the same weight falls back to its second rule, which lacks that axis.
#include <cstdint>
#include <memory>
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shardplan {

/// A rule set compiled for meshes of the same axes, whatever their sizes. Immutable, so threads may share it.
class CompiledRules {
 public:
  struct Entry {
    std::size_t position;  ///< in the rule list: its priority
    std::uint64_t axes;    ///< every axis it names, one bit each: these block
    AxisList of_mesh;      ///< those of them that the meshes have: these shard where they are above 1
  };
  using Fallbacks = std::vector<Entry>;  ///< rules of one name, first to last

  /// Throws InputError when a rule repeats an axis or the rules name more than 64 mesh axes.
  CompiledRules(const RuleSet& rules, const Mesh& any);

  /// Empty: there is none.
  const Fallbacks& fallbacks(std::string_view logical) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, Fallbacks, Hash, std::equal_to<>> rules_;
};

/// Axes of a mesh above 1, one bit each: all of a mesh that resolving names depends on.
std::uint64_t split_axes(const Mesh& mesh);

/// Compiled rules on one mesh: resolves a tensor in a fraction of a microsecond.
class Resolver {
 public:
  /// `mesh` has the axes that the rules were compiled for.
  Resolver(std::shared_ptr<const CompiledRules> rules, const Mesh& mesh);
  /// Throws as CompiledRules does.
  Resolver(const RuleSet& rules, const Mesh& mesh) : Resolver(std::make_shared<const CompiledRules>(rules, mesh), mesh) {}

  /// One entry for each dim. A name without a rule is replicated. Throws InputError when two dims have the same name.
  PartitionSpec resolve(const LogicalAxes& names) const;

  /// Every dim by itself, by the first rule of its name, as if the tensor had no other dim: one mesh axis can land on
  /// two dims, and the caller must peel one of them (without_axes). MaxText does this in the mixture-of-experts
  /// dispatch under moe_dispatch_no_expert_sharding, and nowhere else.
  PartitionSpec resolve_each_dim(const LogicalAxes& names) const;

  /// Axes above 1 of the first rule of that name; none when there is no such rule.
  AxisList axes_of_rule(std::string_view logical) const;

 private:
  struct Dim;  ///< a dim that still waits for a rule
  AxisList sharded(const CompiledRules::Entry& rule) const;

  std::shared_ptr<const CompiledRules> rules_;
  std::uint64_t split_;
};

/// Resolver for a single tensor.
PartitionSpec resolve(const LogicalAxes& names, const RuleSet& rules, const Mesh& mesh);
PartitionSpec resolve_each_dim(const LogicalAxes& names, const RuleSet& rules, const Mesh& mesh);

/// Mesh axes above 1 of the first rule of a name: `exp` gives the expert-parallel axes, `activation_length` the
/// context-parallel ones.
AxisList axes_of_rule(const RuleSet& rules, const Mesh& mesh, std::string_view logical);

/// The spec with `axes` gone from every dim, or from one dim only ("peeled").
PartitionSpec without_axes(PartitionSpec spec, const AxisList& axes, std::size_t dim);

/// P(('fsdp','expert'), None, 'tensor')
std::string describe(const PartitionSpec& spec, const Mesh& mesh);

}  // namespace shardplan
