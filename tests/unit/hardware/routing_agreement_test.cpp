// Rates of whole meshes in closed form against routing every message over the links.
#include <gtest/gtest.h>

#include <algorithm>
#include <hardware/load_profile.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <hardware/slices.hpp>
#include <map>

namespace shardplan {
namespace {

/// The devices that differ only in the axes of `in_group`, in mesh order.
DeviceGroups groups_of(const Mesh& mesh, unsigned in_group, const std::vector<DeviceCoordinates>& devices) {
  std::map<std::size_t, std::vector<DeviceCoordinates>> groups;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    std::size_t rest = device, others = 0, scale = 1;
    for (std::size_t axis = mesh.axes.size(); axis-- > 0;) {
      const auto size = static_cast<std::size_t>(mesh.axes[axis].ici);
      if ((in_group >> axis & 1U) == 0) others += rest % size * scale;
      scale *= size;
      rest /= size;
    }
    groups[others].push_back(devices[device]);
  }
  DeviceGroups all;
  for (auto& [others, group] : groups) all.push_back(std::move(group));
  return all;
}

AxisList axes_of(unsigned in_group, std::size_t count) {
  AxisList axes;
  for (std::size_t axis = 0; axis < count; ++axis)
    if (in_group >> axis & 1U) axes.push_back(static_cast<AxisId>(axis));
  return axes;
}

/// closed / routed exchange rate of every group of axes, worst first.
std::vector<double> exchange_ratios(int chips, const Mesh& mesh) {
  const auto profile = load_profile("toy-torus");
  const auto slice = slice_of_chips(profile, chips);
  const auto embedding = std::get<MeshEmbedding>(embed(profile, slice, mesh, {.allow_split_physical_axes = true}));
  std::vector<double> ratios;
  for (unsigned in_group = 1; in_group < 1U << mesh.axes.size(); ++in_group) {
    const auto groups = groups_of(mesh, in_group, embedding.device_coordinates());
    const double routed = routed_rates(graph_of(slice, {profile.link_bandwidth.value, 0}), groups).exchange;
    ratios.push_back(embedding.network(axes_of(in_group, mesh.axes.size())).exchange_rate.value / routed);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

TEST(RoutingAgreement, ExactOnWholeDims) {
  const std::pair<int, Mesh> rows[] = {
      {64, {{{"a", 4, 1}, {"b", 4, 1}, {"c", 4, 1}}}},
      {64, {{{"a", 16, 1}, {"b", 4, 1}}}},
      {128, {{{"a", 8, 1}, {"b", 16, 1}}}},
      {32, {{{"a", 2, 1}, {"b", 4, 1}, {"c", 4, 1}}}},
      {16, {{{"a", 4, 1}, {"b", 4, 1}}}},
      {256, {{{"a", 8, 1}, {"b", 4, 1}, {"c", 8, 1}}}},
  };
  for (const auto& [chips, mesh] : rows)
    for (const double ratio : exchange_ratios(chips, mesh)) EXPECT_NEAR(ratio, 1, 1e-9) << describe(mesh);
}

/// Parts of a dim that do not join (the outer and inner third of one, say) are taken one after the other: never faster
/// than routing, at most 2 times slower.
TEST(RoutingAgreement, NeverOptimisticOnSplitDims) {
  const std::pair<int, Mesh> rows[] = {
      {64, {{{"a", 2, 1}, {"b", 8, 1}, {"c", 4, 1}}}},
      {64, {{{"a", 2, 1}, {"b", 2, 1}, {"c", 16, 1}}}},
      {512, {{{"a", 2, 1}, {"b", 2, 1}, {"c", 2, 1}, {"d", 64, 1}}}},
      {512, {{{"a", 4, 1}, {"b", 32, 1}, {"c", 4, 1}}}},
  };
  for (const auto& [chips, mesh] : rows) {
    const auto ratios = exchange_ratios(chips, mesh);
    EXPECT_LE(ratios.back(), 1 + 1e-9) << describe(mesh);
    EXPECT_GE(ratios.front(), 0.5) << describe(mesh);
  }
}

}  // namespace
}  // namespace shardplan
