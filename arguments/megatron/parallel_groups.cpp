#include <algorithm>
#include <arguments/megatron/parallel_groups.hpp>
#include <rules/resolve.hpp>
#include <set>

namespace shardplan {
namespace {

using Axes = std::set<AxisId>;

/// The axes of every rule of these names.
Axes axes_of(const Configuration& c, std::initializer_list<std::string_view> logical) {
  const Resolver resolver(c.rules, c.mesh);
  Axes axes;
  for (const auto name : logical)
    for (const AxisId axis : resolver.axes_of_rule(name)) axes.insert(axis);
  return axes;
}

Axes both(const Axes& a, const Axes& b) {
  Axes common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  return common;
}

Axes without(Axes axes, const Axes& others) {
  for (const AxisId axis : others) axes.erase(axis);
  return axes;
}

Axes joined(Axes a, const Axes& b) {
  a.insert(b.begin(), b.end());
  return a;
}

std::int64_t product(const Axes& axes, const Mesh& mesh) {
  std::int64_t size = 1;
  for (const AxisId axis : axes) size *= mesh.size(axis);
  return size;
}

std::vector<std::string> names_of(const Axes& axes, const Mesh& mesh) {
  std::vector<std::string> names;
  for (const AxisId axis : axes) names.push_back(mesh.axes[axis].name);
  return names;
}

Axes larger_than_one(const Mesh& mesh) {
  Axes axes;
  for (AxisId axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.size(axis) > 1) axes.insert(axis);
  return axes;
}

}  // namespace

ParallelGroups parallel_groups(const Configuration& c) {
  const Axes batch = axes_of(c, {"activation_batch_attn"}), heads = axes_of(c, {"heads"});
  const Axes sequence = without(axes_of(c, {"activation_length_attn"}), batch);
  const Axes stage = without(axes_of(c, {"layers"}), joined(batch, heads));
  const Axes replicas = joined(batch, sequence);
  const Axes experts = c.model.has_experts() ? axes_of(c, {"exp"}) : Axes{};
  const Axes between_layers = joined(axes_of(c, {"activation_batch"}), axes_of(c, {"activation_length"}));
  ParallelGroups groups;
  groups.data = product(batch, c.mesh);
  groups.context = product(sequence, c.mesh);
  groups.tensor = product(heads, c.mesh);
  groups.pipeline = product(stage, c.mesh);
  groups.expert = product(experts, c.mesh);
  if (c.model.has_experts())
    groups.expert_tensor = product(without(axes_of(c, {"mlp_moe"}), joined(replicas, experts)), c.mesh);
  groups.weight_shards = product(both(axes_of(c, {"embed", "mlp"}), replicas), c.mesh);
  groups.sequence_parallel = !both(axes_of(c, {"activation_norm_length"}), heads).empty();
  groups.unused = names_of(without(larger_than_one(c.mesh), joined(joined(replicas, heads), stage)), c.mesh);
  groups.elsewhere =
      names_of(joined(without(replicas, between_layers), without(without(between_layers, heads), replicas)), c.mesh);
  return groups;
}

}  // namespace shardplan
