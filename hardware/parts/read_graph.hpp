#pragma once
// The "graph" part of a profile: kinds of links, and either nodes and links by name or a generated network
// (docs/hardware-profiles.md).
#include <formats/strict_json.hpp>
#include <hardware/network/graph/network_graph.hpp>

namespace shardplan {

/// Throws InputError on unknown nodes and kinds (nearest names), names given twice, links of a node to itself, and
/// devices that others can't reach.
NetworkGraph read_graph(StrictObject object);

/// The index of the kind of that name, or of the one that `key` names. Throws InputError with the nearest names.
int kind_named(const StrictObject& object, const std::string& name, const std::vector<LinkKind>& kinds);
int read_kind(StrictObject& object, const std::string& key, const std::vector<LinkKind>& kinds);

/// A whole number from 1 to `most`.
int read_graph_count(StrictObject& object, const std::string& key, int most);

}  // namespace shardplan
