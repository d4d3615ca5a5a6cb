#pragma once
#include <hardware/network/graph/network_graph.hpp>

namespace shardplan {

/// 100 and 10 bytes a second, after 1 and 2 seconds.
inline const LinkKind fast{"fast", {100}, {1}}, slow{"slow", {10}, {2}};

}  // namespace shardplan
