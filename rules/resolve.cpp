#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

using AxisBits = std::uint64_t;

/// Gives each mesh axis that rules name its own bit, whether the mesh has it or not.
class AxisBitTable {
 public:
  AxisBits bits_of(const Rule& rule) {
    AxisBits bits = 0;
    for (const auto& axis : rule.axes) {
      if ((bits & bit_of(axis)) != 0)
        throw InputError(fmt::format("rule '{}': mesh axis '{}' is given twice", rule.logical, axis));
      bits |= bit_of(axis);
    }
    return bits;
  }

 private:
  AxisBits bit_of(const std::string& axis) {
    const auto known = std::find(axes_.begin(), axes_.end(), axis);
    const auto index = known - axes_.begin();
    if (known == axes_.end()) axes_.push_back(axis);
    if (axes_.size() > 64) throw InputError("the rules name more than 64 mesh axes");
    return AxisBits{1} << index;
  }

  std::vector<std::string> axes_;
};

AxisList axes_of_mesh(const Rule& rule, const Mesh& mesh) {
  AxisList list;
  for (const auto& name : rule.axes)
    if (const auto axis = mesh.find(name)) list.push_back(*axis);
  return list;
}

/// flax allows a name once in a tensor; unnamed dims may repeat.
void check_names_differ(const LogicalAxes& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!names[i].empty() && names[i] == names[j])
        throw InputError(fmt::format("logical axis '{}' names two dims of one tensor", std::string_view(names[i])));
}

}  // namespace

CompiledRules::CompiledRules(const RuleSet& rules, const Mesh& any) {
  AxisBitTable table;
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    const Rule& rule = rules.rules[i];
    rules_[rule.logical].push_back({i, table.bits_of(rule), axes_of_mesh(rule, any)});
  }
}

const CompiledRules::Fallbacks& CompiledRules::fallbacks(std::string_view logical) const {
  static const Fallbacks none;
  const auto known = logical.empty() ? rules_.end() : rules_.find(logical);
  return known == rules_.end() ? none : known->second;
}

std::uint64_t split_axes(const Mesh& mesh) {
  if (mesh.axes.size() > 64) throw InternalError("a mesh of more than 64 axes");
  std::uint64_t axes = 0;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].size() > 1) axes |= std::uint64_t{1} << i;
  return axes;
}

struct Resolver::Dim {
  std::size_t index;
  const CompiledRules::Entry* next;  ///< the first of its rules not tried yet
  const CompiledRules::Entry* end;
};

Resolver::Resolver(std::shared_ptr<const CompiledRules> rules, const Mesh& mesh)
    : rules_(std::move(rules)), split_(split_axes(mesh)) {}

AxisList Resolver::sharded(const CompiledRules::Entry& rule) const {
  AxisList list;
  for (const AxisId axis : rule.of_mesh)
    if ((split_ >> axis & 1) != 0) list.push_back(axis);
  return list;
}

PartitionSpec Resolver::resolve(const LogicalAxes& names) const {
  check_names_differ(names);
  PartitionSpec spec;
  spec.dims.resize(names.size());
  InlineList<Dim, most_dims> open;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto& rules = rules_->fallbacks(names[i]); !rules.empty())
      open.push_back({i, rules.data(), rules.data() + rules.size()});
  const auto earlier = [](const Dim& a, const Dim& b) { return a.next->position < b.next->position; };
  for (std::uint64_t used = 0; !open.empty();) {
    const auto dim = std::min_element(open.begin(), open.end(), earlier);
    const CompiledRules::Entry& rule = *dim->next++;
    const bool taken = (rule.axes & used) == 0;
    if (taken) {
      spec.dims[dim->index] = sharded(rule);
      used |= rule.axes;
    }
    if (taken || dim->next == dim->end) {
      *dim = open.back();
      open.resize(open.size() - 1);
    }
  }
  return spec;
}

PartitionSpec Resolver::resolve_each_dim(const LogicalAxes& names) const {
  PartitionSpec spec;
  for (const auto& name : names) spec.dims.push_back(axes_of_rule(name));
  return spec;
}

AxisList Resolver::axes_of_rule(std::string_view logical) const {
  const auto& rules = rules_->fallbacks(logical);
  return rules.empty() ? AxisList{} : sharded(rules.front());
}

PartitionSpec resolve(const LogicalAxes& names, const RuleSet& rules, const Mesh& mesh) {
  return Resolver(rules, mesh).resolve(names);
}

PartitionSpec resolve_each_dim(const LogicalAxes& names, const RuleSet& rules, const Mesh& mesh) {
  return Resolver(rules, mesh).resolve_each_dim(names);
}

AxisList axes_of_rule(const RuleSet& rules, const Mesh& mesh, std::string_view logical) {
  const auto rule =
      std::find_if(rules.rules.begin(), rules.rules.end(), [&](const Rule& r) { return r.logical == logical; });
  AxisList axes;
  if (rule == rules.rules.end()) return axes;
  for (const auto& name : rule->axes)
    if (const auto axis = mesh.find(name); axis && mesh.size(*axis) > 1) axes.push_back(*axis);
  return axes;
}

PartitionSpec without_axes(PartitionSpec spec, const AxisList& axes, std::size_t dim) {
  if (dim >= spec.dims.size()) throw InternalError("without_axes: the spec has no such dim");
  spec.dims[dim] = without(spec.dims[dim], axes);
  return spec;
}

std::string describe(const PartitionSpec& spec, const Mesh& mesh) {
  const auto quoted = [&](AxisId axis) { return fmt::format("'{}'", mesh.axes[axis].name); };
  std::vector<std::string> dims;
  for (const auto& dim : spec.dims) {
    std::vector<std::string> axes;
    std::transform(dim.begin(), dim.end(), std::back_inserter(axes), quoted);
    const std::string list = fmt::format("{}", fmt::join(axes, ","));
    dims.push_back(axes.empty() ? "None" : axes.size() == 1 ? list : "(" + list + ")");
  }
  return fmt::format("P({})", fmt::join(dims, ", "));
}

}  // namespace shardplan
