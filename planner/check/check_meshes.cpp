#include <algorithm>
#include <array>
#include <optional>
#include <planner/check/check_meshes.hpp>

namespace shardplan {
namespace {

struct AxisSize {
  AxisRole axis;
  int size;
};

constexpr std::array<int, 3> device_counts = {8, 64, 256};

/// Beside fsdp, which takes what is left over.
const std::vector<std::vector<AxisSize>>& layouts() {
  static const std::vector<std::vector<AxisSize>> all = {
      {},
      {{AxisRole::data, 2}},
      {{AxisRole::tensor, 4}},
      {{AxisRole::context, 4}},
      {{AxisRole::expert, 2}},
      {{AxisRole::expert, 4}},
      {{AxisRole::expert, 8}},
      {{AxisRole::expert, 16}},
      {{AxisRole::data, 2}, {AxisRole::expert, 4}},
      {{AxisRole::expert, 4}, {AxisRole::tensor, 2}},
      {{AxisRole::expert, 4}, {AxisRole::context, 2}},
      {{AxisRole::expert, 8}, {AxisRole::context, 4}},
  };
  return all;
}

MeshAxis* find_axis(Mesh& mesh, AxisRole role) {
  const auto axis = mesh.find(role);
  return axis ? &mesh.axes[*axis] : nullptr;
}

/// Without experts the expert axis repeats what fsdp does.
bool suits(const AxisSize& wanted, const Model& model) {
  if (wanted.axis != AxisRole::expert) return true;
  return model.has_experts() && model.num_experts % wanted.size == 0;
}

std::optional<Mesh> mesh_of(const std::vector<AxisSize>& layout, const RuleSet& rules, const Model& model,
                            int devices) {
  Mesh mesh;
  for (const auto& name : rules.mesh_axes) mesh.axes.push_back({name, 1, 1});
  for (const auto& wanted : layout) {
    MeshAxis* axis = find_axis(mesh, wanted.axis);
    if (!axis || !suits(wanted, model) || devices % wanted.size != 0) return std::nullopt;
    axis->ici = wanted.size;
    devices /= wanted.size;
  }
  if (devices == 1) return mesh;
  MeshAxis* rest = find_axis(mesh, AxisRole::fsdp);
  if (!rest) rest = find_axis(mesh, AxisRole::data);
  if (!rest) return std::nullopt;
  rest->ici *= devices;
  return mesh;
}

}  // namespace

std::span<const int> check_device_counts() { return device_counts; }

std::vector<Mesh> check_meshes(const RuleSet& rules, const Model& model, int devices) {
  std::vector<Mesh> meshes;
  for (const auto& layout : layouts()) {
    auto mesh = mesh_of(layout, rules, model, devices);
    if (mesh && std::find(meshes.begin(), meshes.end(), *mesh) == meshes.end()) meshes.push_back(std::move(*mesh));
  }
  return meshes;
}

}  // namespace shardplan
