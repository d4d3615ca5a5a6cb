// The closed forms of each fabric (group_rates.cpp, mesh_embedding.cpp) against the same fabric as a graph, over random
// meshes. Equal but for what each test says.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <hardware/load_profile.hpp>
#include <hardware/network/graph/fabric_graphs.hpp>
#include <hardware/network/graph/max_flow.hpp>
#include <hardware/network/graph/tiered_graphs.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <hardware/slices.hpp>
#include <map>
#include <numeric>

namespace shardplan {
namespace {

constexpr double link = 100e9, microsecond = 1e-6;

/// Toy links with half a hop's latency on each side of a switch.
LinkKind toy_link(double crossings = 1) { return {"link", {link}, {microsecond * crossings}}; }

/// Sizes whose product is `devices`: a random split of it.
rc::Gen<std::vector<int>> sizes_of(int devices) {
  return rc::gen::exec([devices] {
    std::vector<int> sizes;
    for (int left = devices; left > 1;) {
      std::vector<int> divisors;
      for (int d = 2; d <= left; ++d)
        if (left % d == 0) divisors.push_back(d);
      sizes.push_back(*rc::gen::elementOf(divisors));
      left /= sizes.back();
    }
    return sizes;
  });
}

Mesh mesh_of(const std::vector<int>& sizes) {
  Mesh mesh;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    mesh.axes.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i], 1});
  return mesh;
}

AxisList some_axes(const Mesh& mesh) {
  AxisList axes;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (*rc::gen::arbitrary<bool>()) axes.push_back(static_cast<AxisId>(i));
  return axes;
}

HardwareProfile on_graph(HardwareProfile profile, NetworkGraph graph) {
  profile.fabric = FabricKind::graph;
  profile.graph = std::make_shared<const GraphFabric>(std::move(graph));
  return profile;
}

GroupNetwork network_of(const HardwareProfile& profile, const Slice& slice, const Mesh& mesh, const AxisList& axes) {
  return std::get<MeshEmbedding>(embed(profile, slice, mesh, {.allow_split_physical_axes = true})).network(axes);
}

void expect_equal(const GroupNetwork& closed, const GroupNetwork& routed) {
  RC_ASSERT(closed.size == routed.size);
  const auto equal = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); };
  RC_ASSERT(equal(closed.ring_rate.value, routed.ring_rate.value));
  RC_ASSERT(equal(closed.exchange_rate.value, routed.exchange_rate.value));
  RC_ASSERT(equal(closed.shift_rate.value, routed.shift_rate.value));
  RC_ASSERT(equal(closed.latency.value, routed.latency.value));
}

RC_GTEST_PROP(GraphAgreement, ASwitchIsItsGraph, ()) {
  const auto profile = load_profile("toy-switch");
  const int devices = *rc::gen::elementOf(std::vector<int>{2, 4, 8});
  const Slice slice{"toy", devices, devices, {}, {}};
  const Mesh mesh = mesh_of(*sizes_of(devices));
  const AxisList axes = some_axes(mesh);
  const auto graph = on_graph(profile, switch_graph(devices, toy_link(0.5)));
  expect_equal(network_of(profile, slice, mesh, axes), network_of(graph, slice, mesh, axes));
}

RC_GTEST_PROP(GraphAgreement, AFullMeshIsItsGraph, ()) {
  const auto profile = load_profile("toy-mesh");
  const int devices = *rc::gen::elementOf(std::vector<int>{2, 4, 8});
  const Slice slice{"toy", devices, devices, {}, {}};
  const Mesh mesh = mesh_of(*sizes_of(devices));
  const AxisList axes = some_axes(mesh);
  const auto graph = on_graph(profile, full_mesh_graph(devices, toy_link()));
  expect_equal(network_of(profile, slice, mesh, axes), network_of(graph, slice, mesh, axes));
}

/// A torus whose devices the graph takes in mesh order: each axis a whole dim.
struct TorusMesh {
  std::vector<int> extents;
  std::vector<bool> closed;
  Slice slice() const {
    const int chips = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
    return {"toy", chips, chips, extents, closed};
  }
  NetworkGraph graph() const {
    return torus_graph({extents, closed, std::vector<LinkKind>(extents.size(), toy_link()), std::nullopt});
  }
};

TorusMesh some_torus() {
  TorusMesh torus;
  const int dims = *rc::gen::inRange(1, 4);
  // No extent is a product of others: JAX gives each axis the dim of its own size.
  auto extents = *rc::gen::elementOf(std::vector<std::vector<int>>{{2, 3, 5, 7}, {3, 4, 5, 8}});
  int chips = 1;
  for (int dim = 0; dim < dims; ++dim) {
    const int extent = *rc::gen::elementOf(extents);
    if (chips * extent > 128) break;
    torus.extents.push_back(extent);
    torus.closed.push_back(extent > 2 && *rc::gen::arbitrary<bool>());
    chips *= extent;
    std::erase(extents, extent);
  }
  return torus;
}

/// Axes that are whole dims: exact in all rates and latencies, but for the shift over several axes (below).
RC_GTEST_PROP(GraphAgreement, WholeDimsOfATorusAreTheirGraph, ()) {
  const TorusMesh torus = some_torus();
  const auto profile = load_profile("toy-torus");
  const Slice slice = torus.slice();
  const Mesh mesh = mesh_of(torus.extents);
  const AxisList axes = some_axes(mesh);
  const GroupNetwork closed = network_of(profile, slice, mesh, axes);
  GroupNetwork routed = network_of(on_graph(profile, torus.graph()), slice, mesh, axes);
  // From the last member of one row to the first of the next is a way over two dims: messages of a shift over several
  // axes meet there, which the closed form, the slowest of the dims, doesn't see.
  RC_ASSERT(routed.shift_rate.value <= closed.shift_rate.value * (1 + 1e-9));
  if (axes.size() > 1) routed.shift_rate = closed.shift_rate;
  expect_equal(closed, routed);
}

/// Groups of the devices that differ in `axes` alone, as the graph of the torus numbers them.
GraphGroups groups_on_torus(const std::vector<DeviceCoordinates>& devices, const Mesh& mesh, const AxisList& axes,
                            const TorusGrid& grid) {
  std::map<std::size_t, std::vector<int>> groups;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    std::size_t rest = device, others = 0, scale = 1;
    for (std::size_t axis = mesh.axes.size(); axis-- > 0;) {
      const auto size = static_cast<std::size_t>(mesh.axes[axis].ici);
      const bool in_group = std::find(axes.begin(), axes.end(), static_cast<AxisId>(axis)) != axes.end();
      if (!in_group) others += rest % size * scale, scale *= size;
      rest /= size;
    }
    int chip = 0;
    for (std::size_t dim = 0; dim < grid.extents.size(); ++dim) chip = chip * grid.extents[dim] + devices[device][dim];
    groups[others].push_back(chip * grid.devices_per_chip + devices[device][3]);
  }
  GraphGroups all;
  for (auto& [others, group] : groups) all.push_back(std::move(group));
  return all;
}

struct Ratios {
  double ring, exchange, shift;  ///< closed over routed
};

/// One random mesh on a random slice of a toy torus.
Ratios ratios_on_torus(const char* machine, const std::vector<int>& shapes) {
  const auto profile = load_profile(machine);
  const Slice slice = slice_of_chips(profile, *rc::gen::elementOf(shapes));
  const Mesh mesh = mesh_of(*sizes_of(slice.devices));
  const AxisList axes = some_axes(mesh);
  RC_PRE(!axes.empty());
  TorusShape shape{slice.torus, slice.wraps, std::vector<LinkKind>(slice.torus.size(), toy_link()), std::nullopt};
  if (profile.die_to_die_bandwidth) shape.die_to_die = LinkKind{"die", {profile.die_to_die_bandwidth->value}, {microsecond}};
  const auto embedding = std::get<MeshEmbedding>(embed(profile, slice, mesh, {.allow_split_physical_axes = true}));
  const NetworkGraph graph = torus_graph(shape);
  const GroupNetwork closed = embedding.network(axes);
  const GroupRates routed =
      GraphFabric(graph).routed(groups_on_torus(embedding.device_coordinates(), mesh, axes, *graph.grid)).rates;
  return {closed.ring_rate.value / routed.ring, closed.exchange_rate.value / routed.exchange,
          closed.shift_rate.value / routed.shift};
}

void expect_between(double low, double ratio, double high) { RC_ASSERT(ratio > low - 1e-9 && ratio < high + 1e-9); }

/// Axes that split dims. The closed form takes parts of a dim that don't join one after the other: gathers and exchanges
/// on the graph are up to twice as fast. Gathers are down to half as fast where two axes share a dim with another between
/// them, which is no level of their group. Shifts are up to four times as fast: from a member to one half a ring away
/// messages go both ways round.
RC_GTEST_PROP(GraphAgreement, SplitDimsOfATorusAreNearTheirGraph, ()) {
  const Ratios closed_over_routed = ratios_on_torus("toy-torus", {8, 16, 32, 64, 128});
  expect_between(0.5, closed_over_routed.ring, 2);
  expect_between(0.5, closed_over_routed.exchange, 1);
  expect_between(0.25, closed_over_routed.shift, 1);
}

/// The same with two devices a chip, whose link to each other the closed form takes in turns with those of the chip: an
/// exchange on the graph uses both at once.
RC_GTEST_PROP(GraphAgreement, ChipsOfTwoDevicesAreNearTheirGraph, ()) {
  const Ratios closed_over_routed = ratios_on_torus("toy-two-core", {8, 16, 32, 64});
  expect_between(0.5, closed_over_routed.ring, 2);
  expect_between(0.5, closed_over_routed.exchange, 1);
  expect_between(0.25, closed_over_routed.shift, 1);
}

/// A group's gather is never faster than what a cut lets in: of S what the devices on the far side have, n-th parts.
void expect_within_cuts(const NetworkGraph& graph, const GroupNetwork& network) {
  const double n = network.size;
  std::vector<int> others(static_cast<std::size_t>(network.size) - 1);
  std::iota(others.begin(), others.end(), 1);
  const double into_one = max_flow(graph, others, {0}).value;  // (n-1)/n · S
  const double between_halves = bisection(graph, network.size).value;
  RC_ASSERT(network.ring_rate.value <= into_one * (1 + 1e-9));
  RC_ASSERT(network.ring_rate.value <= (n - 1) / n / (std::floor(n / 2) / n) * between_halves * (1 + 1e-9));
  RC_ASSERT(network.exchange_rate.value <=
            (n - 1) / n / (std::floor(n / 2) * std::ceil(n / 2) / n) * between_halves * (1 + 1e-9));
}

/// Over all devices of random two-tier networks: what is routed is possible.
RC_GTEST_PROP(GraphAgreement, RatesStayWithinTheCuts, ()) {
  const int leaves = *rc::gen::inRange(2, 5), each = *rc::gen::inRange(1, 5), spines = *rc::gen::inRange(1, 4);
  const LinkKind uplink{"uplink", {link * *rc::gen::inRange(1, 8) / 4}, {microsecond}};
  const NetworkGraph graph = *rc::gen::arbitrary<bool>() ? leaf_spine_graph({leaves, each, spines, 1, toy_link(), uplink})
                                                         : rail_graph({leaves, each, spines, 1, toy_link(), uplink, uplink});
  const int devices = leaves * each;
  const Mesh mesh = mesh_of({devices});
  const auto profile = on_graph(load_profile("toy-switch"), graph);
  expect_within_cuts(graph, network_of(profile, {"toy", devices, devices, {}, {}}, mesh, {0}));
}

RC_GTEST_PROP(GraphAgreement, RatesOfATorusStayWithinTheCuts, ()) {
  const TorusMesh torus = some_torus();
  const Slice slice = torus.slice();
  const auto profile = on_graph(load_profile("toy-torus"), torus.graph());
  expect_within_cuts(torus.graph(), network_of(profile, slice, mesh_of({slice.devices}), {0}));
}

/// Nodes behind a switch on a network that limits nobody, but for each device's own adapter. Across nodes the closed form
/// is exact. Over both levels it has them take turns and is never faster: an all-to-all on the graph uses both at once,
/// and what leaves a node for a device of another rail takes two adapters, half each.
RC_GTEST_PROP(GraphAgreement, NodesOnRailsAreTwoLevels, ()) {
  auto profile = load_profile("toy-switch");
  const int nodes = *rc::gen::elementOf(std::vector<int>{2, 4, 8});
  const int devices = nodes * profile.chips_per_node;
  const Slice slice{"toy", devices, devices, {}, {}};
  const double adapter = profile.scale_out_bandwidth.value;
  const LinkKind rail{"rail", {adapter}, {microsecond}};
  const auto graph = on_graph(profile, rail_graph({nodes, profile.chips_per_node, 0, 1, toy_link(0.5), rail, {}}));
  const Mesh mesh = mesh_of({nodes, profile.chips_per_node});
  const AxisList axes = some_axes(mesh);
  const GroupNetwork closed = network_of(profile, slice, mesh, axes), routed = network_of(graph, slice, mesh, axes);
  const auto ratio = [](BytesPerSecond a, BytesPerSecond b) { return a.value / b.value; };
  const bool both_levels = axes.size() == 2;
  for (const double gain : {ratio(routed.ring_rate, closed.ring_rate), ratio(routed.exchange_rate, closed.exchange_rate),
                            ratio(routed.shift_rate, closed.shift_rate)})
    RC_ASSERT(gain > 1 - 1e-9 && gain < (both_levels ? 2 : 1) + 1e-9);
}

}  // namespace
}  // namespace shardplan
