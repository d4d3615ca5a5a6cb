#pragma once
// What a network carries from one set of devices to another when messages take any ways at all: the maximal flow, which
// is the bandwidth of the narrowest cut between them (Ford and Fulkerson 1956). No routing gets more across.
#include <hardware/network/graph/network_graph.hpp>
#include <vector>

namespace shardplan {

/// Raw bandwidth from `sources` to `sinks`, disjoint sets of devices.
BytesPerSecond max_flow(const NetworkGraph& graph, const std::vector<int>& sources, const std::vector<int>& sinks);

/// From the first half of the first `devices` devices to their second half (the smaller one first). Other halves may
/// have less between them: these are the ones that the first axis of a mesh joins.
BytesPerSecond bisection(const NetworkGraph& graph, int devices);

}  // namespace shardplan
