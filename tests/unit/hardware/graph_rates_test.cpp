// Rates of groups on small graphs, by hand: links of 100 and 10 GB/s, crossings of 1 and 2 us.
#include <gtest/gtest.h>

#include <hardware/network/graph/fabric_graphs.hpp>
#include <hardware/network/graph/graph_fabric.hpp>
#include <hardware/network/graph/max_flow.hpp>
#include <hardware/network/graph/tiered_graphs.hpp>

#include "toy_links.hpp"

namespace shardplan {
namespace {

/// Groups of `size` members that are `stride` apart, of `devices` in all.
GraphGroups groups_of(int devices, int stride, int size) {
  GraphGroups groups;
  for (int block = 0; block < devices; block += stride * size)
    for (int first = block; first < block + stride; ++first) {
      groups.emplace_back();
      for (int k = 0; k < size; ++k) groups.back().push_back(first + k * stride);
    }
  return groups;
}

struct Row {
  const char* what;
  int stride, size;
  double ring, exchange, shift;
  int steps;
  double latency;
  const char* words;
};

void expect_rates(const NetworkGraph& graph, const std::vector<Row>& rows) {
  const GraphFabric fabric(graph);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const RoutedGroup routed = fabric.routed(groups_of(graph.devices, row.stride, row.size));
    EXPECT_EQ(routed.rates.size, row.size);
    EXPECT_NEAR(routed.rates.ring, row.ring, 1e-9);
    EXPECT_NEAR(routed.rates.exchange, row.exchange, 1e-9);
    EXPECT_NEAR(routed.rates.shift, row.shift, 1e-9);
    EXPECT_EQ(routed.rates.hops, row.steps);
    EXPECT_NEAR(routed.rates.waits, row.latency, 1e-9);
    EXPECT_EQ(routed.words, row.words);
  }
}

TEST(GraphRates, OnOneSwitch) {
  expect_rates(switch_graph(8, fast), {{"all", 1, 8, 100, 100, 100, 7, 14, "8 over fast"},
                                       {"pairs", 4, 2, 100, 100, 100, 1, 2, "2 over fast"}});
}

/// A ring would use two of a device's three links; each piece goes to all in a step instead.
TEST(GraphRates, OnDirectLinks) {
  expect_rates(full_mesh_graph(4, fast),
               {{"all", 1, 4, 300, 300, 100, 1, 1, "4 over fast"}, {"pairs", 2, 2, 100, 100, 100, 1, 1, "2 over fast"}});
}

/// Dims of a torus work side by side.
TEST(GraphRates, OnATorus) {
  expect_rates(torus_graph({{4, 4}, {true, false}, {fast, fast}, std::nullopt}),
               {{"the closed dim", 4, 4, 200, 150, 100, 2, 2, "4 over fast"},
                {"the open dim", 1, 4, 100, 75, 100, 3, 3, "4 over fast"},
                {"both", 1, 16, 300, 93.75, 100, 5, 5, "4 over fast, 4 over fast"}});
}

/// Two leaves of 4 under one spine of one link, as fast as a device's: four times oversubscribed.
/// A ring crosses to the other leaf once; of an all-to-all four devices send half their buffers: 2 B over a link.
/// Pairs across the leaves share the uplink among four.
TEST(GraphRates, OnAnOversubscribedSpine) {
  expect_rates(leaf_spine_graph({2, 4, 1, 1, fast, {"uplink", {100}, {1}}}),
               {{"inside a leaf", 1, 4, 100, 100, 100, 3, 6, "4 over fast"},
                {"across leaves", 4, 2, 25, 25, 25, 1, 4, "2 over fast and uplink"},
                {"all", 1, 8, 100, 43.75, 100, 7, 18, "8 over fast and uplink"}});
}

/// The same with uplinks of 10. A ring of 8 would run at 10. In turns: 1/8 of the result over the uplink that four share
/// (2.5 each), then 3/4 at 100: 0.05 + 0.0075.
TEST(GraphRates, SlowLinksFirstWhenThereIsLeastToMove) {
  expect_rates(leaf_spine_graph({2, 4, 1, 1, fast, slow}),
               {{"all", 1, 8, 7.0 / 8 / (1.0 / 8 / 2.5 + 3.0 / 4 / 100), 7.0 / 8 / 0.2, 10, 4, 6 + 6,
                 "2 over fast and slow, 4 over fast"}});
}

/// Two nodes of 4 with a rail a device: pairs across nodes have rails of their own, and so does each turn of a gather.
/// What a shift sends from the last device of a node to the first of the next takes two rails, half each.
TEST(GraphRates, OnRails) {
  expect_rates(rail_graph({2, 4, 0, 1, fast, slow, slow}),
               {{"across nodes", 4, 2, 10, 10, 10, 1, 4, "2 over slow"},
                {"inside", 1, 4, 100, 100, 100, 3, 6, "4 over fast"},
                {"all", 1, 8, 7.0 / 8 / (1.0 / 8 / 10 + 3.0 / 4 / 100), 7.0 / 8 / 0.05, 20, 4, 4 + 6,
                 "2 over slow, 4 over fast"}});
}

/// An all-to-all over all devices is limited by the bisection where the spine is what limits it: n/2 devices send n/2 of
/// n parts of their buffers across, and no routing gets more over.
TEST(GraphRates, AllToAllIsLimitedByTheBisection) {
  for (const int lanes : {1, 2, 4, 8}) {
    const auto graph = leaf_spine_graph({2, 8, 2, lanes, fast, slow});
    const double most = bisection(graph, 16).value * 15 / 16 * 4 / 16;
    EXPECT_NEAR(bisection(graph, 16).value, 20.0 * lanes, 1e-9);
    EXPECT_NEAR(GraphFabric(graph).routed(groups_of(16, 1, 16)).rates.exchange, most, 1e-9) << lanes;
  }
}

/// With 100 lanes the spine carries more than the devices can send.
TEST(GraphRates, ASpineOfFullWidthLimitsNothing) {
  const auto graph = leaf_spine_graph({2, 8, 2, 100, fast, slow});
  EXPECT_NEAR(bisection(graph, 16).value, 800, 1e-9);
  EXPECT_NEAR(GraphFabric(graph).routed(groups_of(16, 1, 16)).rates.exchange, 100, 1e-9);
}

}  // namespace
}  // namespace shardplan
