#pragma once
// How a tensor's dims are split over mesh axes.
#include <shardplan/inline_list.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <string>
#include <vector>

namespace shardplan {

inline constexpr std::size_t most_dims = 8;  ///< of a tensor

/// One list of mesh axes (size above 1 only, major first) for each dim; an empty list is a replicated dim.
struct PartitionSpec {
  InlineList<AxisList, most_dims> dims;
  bool operator==(const PartitionSpec&) const = default;
};

/// The spec with none of these axes on any dim.
inline PartitionSpec without_axes(PartitionSpec spec, const AxisList& axes) {
  for (AxisList& dim : spec.dims) dim = without(dim, axes);
  return spec;
}

/// A spec plus the axes over which the values are still partial sums.
struct Layout {
  PartitionSpec spec;
  AxisList partial;
  bool operator==(const Layout&) const = default;
};

/// Logical names of a tensor's dims, one each; an empty string is an unnamed dim (None in JAX).
using LogicalAxes = std::vector<std::string>;

/// One MaxText rule: a logical axis may be split over these mesh axes, all or none (SHARDING.md 1.4).
struct Rule {
  std::string logical;
  std::vector<std::string> axes;
  bool operator==(const Rule&) const = default;
};

/// An ordered rule list (position is priority) with the mesh axes it is written for.
struct RuleSet {
  std::string name;
  std::vector<std::string> mesh_axes;      ///< in mesh order
  std::vector<Rule> rules;                 ///< in priority order; a name may occur several times (fallbacks)
  std::vector<std::string> data_sharding;  ///< mesh axes over which the input batch is laid out
  bool custom = false;                     ///< chosen by custom_mesh_and_rule (replaces everything else)
};

}  // namespace shardplan
