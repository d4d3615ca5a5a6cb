#pragma once
// {"shape": "leaf_spine", "leaves": 4, …}: networks that a few numbers describe.
#include <formats/strict_json.hpp>
#include <hardware/network/graph/network_graph.hpp>

namespace shardplan {

/// Throws InputError on an unknown shape, kind of link or key, and on counts out of range.
NetworkGraph read_generated_graph(StrictObject object, const std::vector<LinkKind>& kinds);

}  // namespace shardplan
