// Which links messages take.
#include <gmock/gmock.h>

#include <hardware/network/graph/fabric_graphs.hpp>
#include <hardware/network/graph/group_traffic.hpp>
#include <hardware/network/graph/tiered_graphs.hpp>
#include <numeric>

#include "toy_links.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;

/// The nodes that a message passes, by name.
std::vector<std::string> nodes_on_way(const NetworkGraph& graph, int from, int to) {
  std::vector<std::string> names;
  for (const int taken : one_way(graph, from, to)) names.push_back(graph.nodes[graph.links[taken].to].name);
  return names;
}

TEST(GraphRoutes, ShortestWaysOverSwitches) {
  const auto leaves = leaf_spine_graph({2, 2, 2, 1, fast, slow});
  EXPECT_THAT(nodes_on_way(leaves, 0, 1), ElementsAre("leaf0", "device1"));
  EXPECT_THAT(nodes_on_way(leaves, 0, 3), ElementsAre("leaf0", "spine0", "leaf1", "device3"));
}

/// A message to another rail goes over the device of that rail in its own node, or over the spines where there are any.
TEST(GraphRoutes, RailsAreChangedInsideANodeOrOnASpine) {
  EXPECT_THAT(nodes_on_way(rail_graph({2, 2, 0, 1, fast, slow, slow}), 0, 2), ElementsAre("rail0", "device2"));
  EXPECT_THAT(nodes_on_way(rail_graph({2, 2, 0, 1, fast, slow, slow}), 0, 3),
              ElementsAre("node0", "device1", "rail1", "device3"));
  EXPECT_THAT(nodes_on_way(rail_graph({2, 2, 1, 1, fast, slow, slow}), 0, 3),
              ElementsAre("rail0", "spine0", "rail1", "device3"));
}

TEST(GraphRoutes, DimsOfATorusInOrder) {
  const TorusShape shape{{4, 4}, {true, false}, {fast, fast}, std::nullopt};
  const auto graph = torus_graph(shape);
  EXPECT_THAT(nodes_on_way(graph, 0, 13), ElementsAre("device12", "device13"));  // (0,0) to (3,1): back round, then ahead
  EXPECT_THAT(nodes_on_way(graph, 0, 3), ElementsAre("device1", "device2", "device3"));  // the second dim is open
}

/// The other device of a chip is reached over the link between the two, on the chip that a message starts from.
TEST(GraphRoutes, DevicesOfAChip) {
  const auto graph = torus_graph({{2}, {false}, {fast}, slow});
  EXPECT_THAT(nodes_on_way(graph, 0, 1), ElementsAre("device1"));
  EXPECT_THAT(nodes_on_way(graph, 0, 3), ElementsAre("device1", "chip0", "chip1", "device3"));
  EXPECT_THAT(nodes_on_way(graph, 0, 2), ElementsAre("chip0", "chip1", "device2"));
}

/// Two spines: half each. 8 bytes from one leaf to the other, 4 over each uplink of 10, 8 over the port of 100.
TEST(GraphRoutes, EqualWaysShareAMessage) {
  const auto graph = leaf_spine_graph({2, 2, 2, 1, fast, slow});
  LinkTraffic traffic(graph);
  traffic.send(0, 3, 8);
  EXPECT_DOUBLE_EQ(traffic.busiest(), 0.4);
}

/// Messages that meet go on as one: what each link carries is the same.
TEST(GraphRoutes, ManyToOneCarryWhatEachWouldCarry) {
  for (const auto& graph : {rail_graph({4, 4, 2, 1, fast, slow, slow}), rail_graph({4, 4, 0, 1, fast, slow, slow}),
                            leaf_spine_graph({4, 2, 3, 1, fast, slow})}) {
    std::vector<int> all(static_cast<std::size_t>(graph.devices));
    std::iota(all.begin(), all.end(), 0);
    LinkTraffic together(graph), apart(graph);
    for (const int to : all) together.send_all(all, to, 1);
    for (const int to : all)
      for (const int from : all)
        if (from != to) apart.send(from, to, 1);
    EXPECT_DOUBLE_EQ(together.busiest(), apart.busiest());
  }
}

/// A closed ring of 4, two steps: half each way round.
TEST(GraphRoutes, TiesOnARingShareAMessage) {
  const auto graph = torus_graph({{4}, {true}, {fast}, std::nullopt});
  LinkTraffic traffic(graph);
  traffic.send(0, 2, 8);
  EXPECT_DOUBLE_EQ(traffic.busiest(), 0.04);
}

TEST(GraphRoutes, LanesCarrySideBySide) {
  const auto graph = leaf_spine_graph({2, 1, 1, 5, fast, slow});
  LinkTraffic traffic(graph);
  traffic.send(0, 1, 100);
  EXPECT_DOUBLE_EQ(traffic.busiest(), 2);  // 100 over five lanes of 10
}

}  // namespace
}  // namespace shardplan
