#include <algorithm>
#include <numeric>
#include <planner/search/space/enumerate_meshes.hpp>
#include <planner/search/space/pipeline_options.hpp>
#include <shardplan/rounding.hpp>
#include <span>

namespace shardplan {
namespace {

using Sizes = std::vector<int>;

/// Every way to write `total` as an ordered product with one factor from each list.
std::vector<Sizes> factorizations(int total, std::span<const Sizes> allowed) {
  if (allowed.empty()) return total == 1 ? std::vector<Sizes>{{}} : std::vector<Sizes>{};
  std::vector<Sizes> products;
  for (const int factor : allowed.front()) {
    if (total % factor != 0) continue;
    for (auto& rest : factorizations(total / factor, allowed.subspan(1))) {
      rest.insert(rest.begin(), factor);
      products.push_back(std::move(rest));
    }
  }
  return products;
}

/// Largest first, so that of equal meshes the one that fills the earlier axes comes first.
Sizes divisors(int number) {
  const auto ascending = divisors_of(number);
  return {ascending.rbegin(), ascending.rend()};
}

bool some_rule_uses(const RuleSet& rules, const std::string& axis) {
  return std::any_of(rules.rules.begin(), rules.rules.end(), [&](const Rule& rule) {
    return std::find(rule.axes.begin(), rule.axes.end(), axis) != rule.axes.end();
  });
}

/// The dims of the model that an axis splits in every rule set; its size has to divide them all. Other dims depend on
/// the rules and are checked for each candidate.
std::vector<std::int64_t> split_dims(AxisRole axis, const SearchSpace& space) {
  const Model& model = space.base.model;
  if (axis == AxisRole::expert) return model.has_experts() ? std::vector{model.num_experts} : std::vector<std::int64_t>{};
  if (axis == AxisRole::context) return {space.base.config.max_target_length};
  if (axis == AxisRole::fsdp) return {model.emb};
  if (family_of(axis) != AxisFamily::tensor) return {};
  if (model.attention_type == AttentionType::mla) return {model.q_heads};
  return {model.q_heads, model.common_kv_heads()};
}

enum class Stages : std::uint8_t { none, some };

bool could_help(const std::string& axis, const SearchSpace& space, const RuleSet& rules, Stages stages) {
  const AxisRole role = axis_role(axis);
  return is_searched(role, space.base.model) && (stages == Stages::none || traits_of(role).beside_stages) &&
         some_rule_uses(rules, axis);
}

int devices_of(const SearchSpace& space) { return static_cast<int>(space.base.devices()); }

/// The sizes that one axis may have in all, out of the divisors of the devices.
Sizes total_sizes(const std::string& axis, const SearchSpace& space, const RuleSet& rules, Stages stages) {
  const auto asked = space.asked_axes.find(axis);
  const bool is_asked = asked != space.asked_axes.end();
  if (is_asked && asked->second.least == asked->second.most) return {asked->second.least};
  if (!is_asked && !could_help(axis, space, rules, stages)) return {1};
  Sizes sizes = divisors(devices_of(space));
  if (is_asked) std::erase_if(sizes, [&](int n) { return !asked->second.has(n); });
  for (const std::int64_t dim : split_dims(axis_role(axis), space))
    std::erase_if(sizes, [&](int n) { return dim % n != 0; });
  return sizes;
}

/// Experts that outnumber a node's GPUs are split over nodes in practice (DeepSeek-V3: 64 GPUs of 8 nodes, arXiv 2412.19437
/// section 3.2). Slices of TPUs hold as many.
bool may_span_nodes(AxisRole role, const SearchSpace& space) {
  return role == AxisRole::expert && ends_at_node(space.base.hardware.fabric) &&
         space.base.model.num_experts > space.base.slice.devices;
}

bool may_span_slices(const std::string& axis, const SearchSpace& space) {
  const AxisRole role = axis_role(axis);
  return traits_of(role).grows_between_slices || may_span_nodes(role, space) || space.asked_axes.contains(axis);
}

/// Experts over nodes while the GPUs of a node share weights by gathers: the other way round what is gathered crosses nodes,
/// and what is exchanged doesn't.
bool splits_nodes_before_devices(const Mesh& mesh, const SearchSpace& space) {
  if (space.asks_for(AxisRole::expert)) return false;
  const auto any_axis = [&](const auto& is_so) { return std::any_of(mesh.axes.begin(), mesh.axes.end(), is_so); };
  return any_axis([](const MeshAxis& axis) { return axis.role == AxisRole::expert && axis.dcn > 1; }) &&
         any_axis([](const MeshAxis& axis) { return traits_of(axis.role).takes_devices && axis.ici > 1; });
}

/// What each axis may be between slices, then inside one, given its sizes in all.
std::vector<Sizes> between_slices(const std::vector<Sizes>& totals, const SearchSpace& space, const RuleSet& rules) {
  std::vector<Sizes> allowed;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    Sizes sizes = may_span_slices(rules.mesh_axes[i], space) ? divisors(space.base.num_slices) : Sizes{1};
    std::erase_if(sizes, [&](int dcn) {
      return std::none_of(totals[i].begin(), totals[i].end(), [&](int total) { return total % dcn == 0; });
    });
    allowed.push_back(std::move(sizes));
  }
  return allowed;
}

std::vector<Sizes> inside_slice(const std::vector<Sizes>& totals, const Sizes& dcn) {
  std::vector<Sizes> allowed;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    Sizes sizes;
    for (const int total : totals[i])
      if (total % dcn[i] == 0) sizes.push_back(total / dcn[i]);
    allowed.push_back(std::move(sizes));
  }
  return allowed;
}

Mesh mesh_of(const RuleSet& rules, const Sizes& ici, const Sizes& dcn) {
  Mesh mesh;
  for (std::size_t i = 0; i < ici.size(); ++i) mesh.axes.push_back({rules.mesh_axes[i], ici[i], dcn[i]});
  return mesh;
}

/// An axis that is asked for above 1 and that the rules don't have would be dropped silently by MaxText.
bool has_asked_axes(const SearchSpace& space, const RuleSet& rules) {
  return std::all_of(space.asked_axes.begin(), space.asked_axes.end(), [&](const auto& asked) {
    const auto& axes = rules.mesh_axes;
    return asked.second.has(1) || std::find(axes.begin(), axes.end(), asked.first) != axes.end();
  });
}

bool is_fsdp_by_another_name(const Mesh& mesh, const SearchSpace& space) {
  if (space.asks_for(AxisRole::fsdp) || space.asks_for(AxisRole::fsdp_transpose)) return false;
  return mesh.size_of(AxisRole::fsdp_transpose) > 1 && mesh.size_of(AxisRole::fsdp) == 1;
}

/// Every mesh whose axes have one of these sizes in all.
std::vector<Mesh> meshes_with(const std::vector<Sizes>& totals, const SearchSpace& space, const RuleSet& rules) {
  std::vector<Mesh> meshes;
  for (const Sizes& dcn : factorizations(space.base.num_slices, between_slices(totals, space, rules)))
    for (const Sizes& ici : factorizations(space.base.slice.devices, inside_slice(totals, dcn)))
      meshes.push_back(mesh_of(rules, ici, dcn));
  std::erase_if(meshes, [&](const Mesh& mesh) {
    return is_fsdp_by_another_name(mesh, space) || splits_nodes_before_devices(mesh, space);
  });
  return meshes;
}

}  // namespace

std::vector<Mesh> enumerate_meshes(const SearchSpace& space, const RuleSet& rules) {
  const auto stages = space.asked_axes.find(name_of(AxisRole::stage));
  const bool pipelines = stages != space.asked_axes.end() && !stages->second.has(1);
  if (pipelines || !has_asked_axes(space, rules)) return {};
  std::vector<Sizes> totals;
  for (const auto& axis : rules.mesh_axes)
    totals.push_back(axis_role(axis) == AxisRole::stage ? Sizes{1} : total_sizes(axis, space, rules, Stages::none));
  return meshes_with(totals, space, rules);
}

std::vector<Mesh> enumerate_pipelined_meshes(const SearchSpace& space, const RuleSet& rules) {
  if (!has_asked_axes(space, rules)) return {};
  std::vector<Sizes> totals;
  for (const auto& axis : rules.mesh_axes)
    totals.push_back(axis_role(axis) == AxisRole::stage && !space.asks_for(AxisRole::stage)
                         ? stage_sizes(space, devices_of(space))
                         : total_sizes(axis, space, rules, Stages::some));
  auto meshes = meshes_with(totals, space, rules);
  std::erase_if(meshes, [](const Mesh& mesh) { return pipeline_stages(mesh) == 1; });
  return meshes;
}

}  // namespace shardplan
