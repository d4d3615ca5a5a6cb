#pragma once
// How far every node is from every device, by breadth-first search.
#include <vector>

namespace shardplan {

struct NetworkGraph;

/// NetworkGraph::distances of a graph whose links are sorted.
std::vector<int> distances_to_devices(const NetworkGraph& graph);

}  // namespace shardplan
