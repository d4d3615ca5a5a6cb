#pragma once
// How a tensor's dims are split over mesh axes.
#include <shardplan/inline_list.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <string>
#include <string_view>
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

/// The logical name of a dim; empty: an unnamed dim (None in JAX). It refers to text that outlives it, as a rule to what
/// the code of a program has written, so that programs are made without an allocation a name: never to a std::string's.
class LogicalName {
 public:
  constexpr LogicalName() = default;
  constexpr LogicalName(const char* text) : text_(text) {}
  constexpr LogicalName(std::string_view text) : text_(text) {}
  LogicalName(const std::string&) = delete;

  constexpr operator std::string_view() const { return text_; }
  constexpr bool empty() const { return text_.empty(); }
  bool operator==(const LogicalName&) const = default;

 private:
  std::string_view text_;
};

/// Of a tensor's dims, one each.
using LogicalAxes = InlineList<LogicalName, most_dims>;

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
