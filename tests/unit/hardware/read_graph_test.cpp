// Machines whose network is listed or generated as a graph.
#include <gmock/gmock.h>

#include <hardware/load_profile.hpp>
#include <hardware/machine_of_chips.hpp>
#include <hardware/network/graph/max_flow.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <hardware/slices.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// toy-spine with one passage of its text replaced.
std::string edited(const std::string& passage, const std::string& replacement) {
  std::string text = profile_json("toy-spine");
  const auto at = text.find(passage);
  if (at == std::string::npos) throw std::logic_error("the toy has no passage " + passage);
  return text.replace(at, passage.size(), replacement);
}

/// toy-spine with its nodes and links generated: `shape` in place of them.
HardwareProfile generated(const std::string& shape) {
  std::string text = profile_json("toy-spine");
  const auto begin = text.find("\"devices\": [\"d0\""), end = text.find("\"source\": \"toy: oversubscribed");
  text.replace(begin, end - begin, "\"generated\": " + shape + ",\n");
  return parse_profile(text, "mine.json");
}

GroupNetwork network_of(const HardwareProfile& profile, const Mesh& mesh, const AxisList& axes, int chips = 8) {
  return std::get<MeshEmbedding>(embed(profile, slice_of_chips(profile, chips), mesh, {})).network(axes);
}

TEST(ReadGraph, NodesAndLinks) {
  const auto profile = load_profile("toy-spine");
  ASSERT_TRUE(profile.graph);
  const NetworkGraph& graph = profile.graph->graph();
  EXPECT_EQ(graph.devices, 8);
  EXPECT_EQ(graph.nodes.size(), 11U);
  EXPECT_EQ(graph.links.size(), 20U);  // ten links, two directions each
  EXPECT_DOUBLE_EQ(bisection(graph, 8).value, 100e9);
  EXPECT_DOUBLE_EQ(profile.link_bandwidth.value, 100e9);
  EXPECT_EQ(profile.link_bandwidth.basis, Basis::derived);
  EXPECT_DOUBLE_EQ(profile.hop_latency->value, 1e-6);
}

/// Devices in mesh order: the last axis inside a leaf, the first across the spine, which four pairs share.
TEST(ReadGraph, AxesGetTheLinksBetweenTheirDevices) {
  const auto profile = load_profile("toy-spine");
  const Mesh mesh{{{"a", 2, 1}, {"b", 4, 1}}};
  const auto inner = network_of(profile, mesh, {1}), outer = network_of(profile, mesh, {0});
  const auto all = network_of(profile, mesh, {0, 1});
  EXPECT_EQ(inner.description, "4 devices: 4 over port");
  EXPECT_DOUBLE_EQ(inner.ring_rate.value, 100e9);
  EXPECT_NEAR(inner.latency.value, 8e-6, 1e-12);  // 5 us and three steps of two crossings of half a microsecond
  EXPECT_EQ(outer.description, "2 devices: 2 over port and uplink");
  EXPECT_DOUBLE_EQ(outer.ring_rate.value, 25e9);
  EXPECT_DOUBLE_EQ(all.exchange_rate.value, 43.75e9);
  EXPECT_DOUBLE_EQ(all.ring_rate.value, 100e9);
}

/// Two graphs are two slices, joined by 10 GB/s a device.
TEST(ReadGraph, SlicesOfAGraphTakeTheScaleOutNetwork) {
  const auto profile = load_profile("toy-spine");
  const Machine machine = machine_of(profile, 16, std::nullopt);
  EXPECT_EQ(machine.num_slices, 2);
  EXPECT_EQ(machine.slice.name, "toy-spine-8");
  const auto network = network_of(profile, Mesh{{{"a", 8, 2}}}, {0});
  EXPECT_EQ(network.description, "16 devices: 8 over port and uplink, across 2 slices");
  EXPECT_DOUBLE_EQ(network.ring_rate.value, 15.0 / 16 / (1.0 / 16 / 10e9 + 7.0 / 8 / 100e9));
}

TEST(ReadGraph, LinkEfficiencyScalesRates) {
  const auto whole = load_profile("toy-spine");
  const std::string text = edited(R"("link_efficiency": {"value": 1,)", R"("link_efficiency": {"value": 0.5,)");
  const auto half = parse_profile(text, "mine.json");
  const Mesh mesh{{{"a", 8, 1}}};
  EXPECT_DOUBLE_EQ(network_of(half, mesh, {0}).ring_rate.value, network_of(whole, mesh, {0}).ring_rate.value / 2);
  EXPECT_DOUBLE_EQ(network_of(half, mesh, {0}).exchange_rate.value, network_of(whole, mesh, {0}).exchange_rate.value / 2);
}

/// A generated network is the one that the profile lists.
TEST(ReadGraph, GeneratedNetworks) {
  const Mesh mesh{{{"a", 8, 1}}};
  const auto listed = network_of(load_profile("toy-spine"), mesh, {0});
  const auto spine = generated(R"({"shape": "leaf_spine", "leaves": 2, "devices_per_leaf": 4, "spines": 1,
                                   "device_kind": "port", "uplink_kind": "uplink"})");
  EXPECT_EQ(network_of(spine, mesh, {0}).description, listed.description);
  EXPECT_DOUBLE_EQ(network_of(spine, mesh, {0}).exchange_rate.value, listed.exchange_rate.value);
  const struct {
    const char* shape;
    std::size_t nodes, links;
    double bisection;  ///< GB/s
  } rows[] = {
      {R"({"shape": "switch", "devices": 8, "kind": "port"})", 9, 8, 400},
      {R"({"shape": "full_mesh", "devices": 8, "kind": "port"})", 8, 28, 1600},
      {R"({"shape": "torus", "extents": [2, 4], "closed": [false, true], "kinds": ["port", "port"]})", 8, 12, 400},
      {R"({"shape": "rails", "nodes": 2, "devices_per_node": 4, "node_kind": "port", "rail_kind": "uplink"})", 14, 16, 400},
      {R"({"shape": "rails", "nodes": 2, "devices_per_node": 4, "node_kind": "port", "rail_kind": "uplink", "spines": 1,
           "uplink_kind": "uplink", "uplink_lanes": 4})",
       15, 20, 400},
  };
  for (const auto& row : rows) {
    const auto profile = generated(row.shape);
    const NetworkGraph& graph = profile.graph->graph();
    EXPECT_EQ(graph.nodes.size(), row.nodes) << row.shape;
    EXPECT_EQ(graph.links.size(), row.links * 2) << row.shape;
    EXPECT_DOUBLE_EQ(bisection(graph, 8).value, row.bisection * 1e9) << row.shape;
  }
}

struct Mistake {
  std::string passage, replacement, message;
};

TEST(ReadGraph, ErrorsSayWhere) {
  const Mistake rows[] = {
      {R"("to": ["leaf0"])", R"("to": ["leaf9"])", "mine.json.graph.links[0]: unknown node 'leaf9'; nearest: leaf0, leaf1"},
      {R"("kind": "uplink")", R"("kind": "uplnk")", "graph.links[2]: unknown kind of link 'uplnk'; nearest: uplink"},
      {R"("to": ["spine"])", R"("to": ["leaf0"])", "'to' must be other nodes than leaf0: a link joins two"},
      {R"("switches": ["leaf0")", R"("switches": ["d0")", "'switches' must be nodes of different names: d0 is there twice"},
      {R"("from": ["leaf0", "leaf1"], "to": ["spine"])", R"("from": ["leaf0"], "to": ["spine"])",
       "mine.json.graph: 'links' must be links that join all devices: d4 can't reach d0 (devices_forward is false)"},
      {R"("name": "uplink")", R"("name": "port")", "kinds of different names: port is there twice"},
      {R"("from": ["leaf0", "leaf1"])", R"("lanes": 0, "from": ["leaf0"])", "'lanes' must be a whole number from 1 to 1024"},
      {R"("from": ["leaf0", "leaf1"])", R"("lanes": 1e9, "from": ["leaf0"])",
       "'lanes' must be a whole number from 1 to 1024"},
      {R"("from": ["leaf0", "leaf1"])", R"("lanes": 1.5, "from": ["leaf0"])",
       "'lanes' must be a whole number from 1 to 1024"},
      {R"("from": ["leaf0", "leaf1"])", R"("from": [])", "links[2]: 'from' must be at least one node: links join two"},
      {R"("to": ["spine"])", R"("to": [])", "links[2]: 'to' must be at least one node: links join two"},
      {R"("switches": ["leaf0")", R"("switches": ["leaf2", "leaf0")",
       "mine.json.graph: 'links' must be links of every switch: leaf2 has none to a device"},
      {R"("kind": "uplink")", R"("speed": 1, "kind": "uplink")", "mine.json.graph.links[2]: unknown key 'speed'"},
      {R"("chips": [1, 2, 4, 8])", R"("chips": [16])", "'chips' must be whole numbers from 1 to the chips of the graph (8)"},
      {R"("chips": [1, 2, 4, 8])", R"("chips": [6])", "'chips' must be whole nodes of 4 from there up (chips_per_node)"},
      {R"("fabric": "graph")", R"("fabric": "graf")", "unknown fabric 'graf'; known: torus, switched, full_mesh, graph"},
      {R"("link_efficiency")", R"("link_bandwidth": 1, "link_efficiency")", "'link_bandwidth' must be left out"},
      {R"("devices": ["d0")", R"("generated": {"shape": "ring"}, "devices": ["d0")", "unknown shape 'ring'"},
  };
  for (const Mistake& row : rows)
    EXPECT_THAT([&] { parse_profile(edited(row.passage, row.replacement), "mine.json"); },
                ThrowsMessage<InputError>(HasSubstr(row.message)));
}

TEST(ReadGraph, ErrorsOfGeneratedNetworks) {
  const std::string torus = R"({"shape": "torus", "extents": [2, 4], "closed": [true, true], "kinds": ["port", "port"]})";
  const std::string spine = R"({"shape": "leaf_spine", "leaves": 2, "devices_per_leaf": 4, "spines": 1,
                                "device_kind": "port", "uplink_kind": "uplink"})";
  const std::string rails = R"({"shape": "rails", "nodes": 2, "devices_per_node": 4, "node_kind": "port",
                                "rail_kind": "uplink"})";
  const struct {
    std::string shape;
    Mistake mistake;
  } rows[] = {
      {torus, {"[2, 4]", "[2, 0]", "whole numbers whose product is 1 to 1024"}},
      {torus, {"[2, 4]", "[40, 40]", "whole numbers whose product is 1 to 1024"}},
      {torus, {"[true, true]", "[true]", "'closed' must be one for each of the 2 dims"}},
      {torus, {"\"port\"]", "\"prt\"]", "unknown kind of link 'prt'; nearest: port"}},
      {spine, {"\"leaves\": 2", "\"leaves\": 512", "'devices_per_leaf' must be a whole number from 1 to 2"}},
      {rails, {"\"rail_kind\"", "\"uplink_kind\": \"uplink\", \"rail_kind\"", "unknown key 'uplink_kind'"}},
  };
  for (auto [shape, mistake] : rows) {
    shape.replace(shape.find(mistake.passage), mistake.passage.size(), mistake.replacement);
    EXPECT_THAT([&shape = shape] { generated(shape); }, ThrowsMessage<InputError>(HasSubstr(mistake.message)));
  }
}

}  // namespace
}  // namespace shardplan
