// What gets across a network at most.
#include <gtest/gtest.h>

#include <hardware/network/graph/fabric_graphs.hpp>
#include <hardware/network/graph/max_flow.hpp>
#include <hardware/network/graph/tiered_graphs.hpp>

#include "toy_links.hpp"

namespace shardplan {
namespace {

NetworkGraph torus(std::vector<int> extents, bool closed) {
  const std::size_t dims = extents.size();
  return torus_graph({std::move(extents), std::vector<bool>(dims, closed), std::vector<LinkKind>(dims, fast), std::nullopt});
}

TEST(MaxFlow, BisectionOfEachFabric) {
  const struct {
    const char* what;
    NetworkGraph graph;
    double bisection;
  } rows[] = {
      {"a line of 4: one link", torus({4}, false), 100},
      {"a ring of 4: two", torus({4}, true), 200},
      {"4x4 closed: four rings", torus({4, 4}, true), 800},
      {"2x2x2 open: four links", torus({2, 2, 2}, false), 400},
      {"8 behind a switch: the links of four", switch_graph(8, fast), 400},
      {"4 in a full mesh: two links from each of two", full_mesh_graph(4, fast), 400},
      {"2 leaves of 4, two spines of one link each", leaf_spine_graph({2, 4, 2, 1, fast, slow}), 20},
      {"the same with three lanes each", leaf_spine_graph({2, 4, 2, 3, fast, slow}), 60},
      {"2 nodes of 2 on 2 rails", rail_graph({2, 2, 0, 1, fast, slow, slow}), 20},
  };
  for (const auto& row : rows) EXPECT_DOUBLE_EQ(bisection(row.graph, row.graph.devices).value, row.bisection) << row.what;
}

/// Devices of a full mesh forward nothing: between two there is their one link, whatever way round others there is.
TEST(MaxFlow, PassesOnlyNodesThatForward) {
  EXPECT_DOUBLE_EQ(max_flow(full_mesh_graph(4, fast), {0}, {1}).value, 100);
  EXPECT_DOUBLE_EQ(max_flow(torus({4}, true), {0}, {1}).value, 200);  // the long way round too
  EXPECT_DOUBLE_EQ(max_flow(torus({4}, true), {0}, {1, 2, 3}).value, 200);
}

/// Part of a graph: 3 of 8 devices, one against two.
TEST(MaxFlow, HalvesOfAPart) { EXPECT_DOUBLE_EQ(bisection(switch_graph(8, fast), 3).value, 100); }

}  // namespace
}  // namespace shardplan
