#include <algorithm>
#include <array>
#include <optional>
#include <planner/check/check_meshes.hpp>
#include <string_view>

namespace shardplan {
namespace {

struct AxisSize {
  std::string_view axis;
  int size;
};

constexpr std::array<int, 3> device_counts = {8, 64, 256};

/// Beside fsdp, which takes what is left over.
const std::vector<std::vector<AxisSize>>& layouts() {
  static const std::vector<std::vector<AxisSize>> all = {
      {},
      {{"data", 2}},
      {{"tensor", 4}},
      {{"context", 4}},
      {{"expert", 2}},
      {{"expert", 4}},
      {{"expert", 8}},
      {{"expert", 16}},
      {{"data", 2}, {"expert", 4}},
      {{"expert", 4}, {"tensor", 2}},
      {{"expert", 4}, {"context", 2}},
      {{"expert", 8}, {"context", 4}},
  };
  return all;
}

MeshAxis* find_axis(Mesh& mesh, std::string_view name) {
  const auto axis = std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const MeshAxis& a) { return a.name == name; });
  return axis == mesh.axes.end() ? nullptr : &*axis;
}

/// Without experts the expert axis repeats what fsdp does.
bool suits(const AxisSize& wanted, const Model& model) {
  if (wanted.axis != "expert") return true;
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
  MeshAxis* rest = find_axis(mesh, "fsdp");
  if (!rest) rest = find_axis(mesh, "data");
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
