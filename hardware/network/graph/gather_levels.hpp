#pragma once
// How groups gather on a graph. The n members of a group in mesh order are levels, n = size₁ · size₂ · …, as the digits
// of a number are: a level of `size` and `stride` joins members that are `stride` places apart.
//   level   a ring through its members, one way where each has one link to the others, both ways where it has two; or
//           in a single step to all, where that is faster (direct links)
//   levels  on links of the same kinds that don't share any work side by side, and their rates add up (the dims of a
//           torus); others take turns, the slowest first, when there is least to move: with m members done before it,
//           a level of s takes m·(s-1)/n of the result
// Of all ways to write n as at most four levels the fastest counts, of equally fast ones that with the fewest levels.
// What an optimal algorithm reaches (ForestColl, NSDI 2025) is between that and the cuts of max_flow.hpp.
#include <hardware/network/graph/group_traffic.hpp>
#include <string>

namespace shardplan {

struct GatherWay {
  double rate = 0;     ///< into each device, raw bytes/s
  int steps = 0;       ///< one after the other
  Seconds latency;     ///< of the links on the longest way
  std::string words;   ///< "4 over nvlink, 2 over nic"
};

GatherWay fastest_gather(const NetworkGraph& graph, const GraphGroups& groups);

}  // namespace shardplan
