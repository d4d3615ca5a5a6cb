#pragma once
// What is known of remat policies before anything is costed:
//   one that saves more recomputes less, and is no slower where it moves no more to the host
//   one that holds more of it on the device needs more memory: a layer's share of it for every layer; of two that hold
//   the same, and of those that move to the host what stays on the device all the same, nobody knows
#include <planner/search/space/search_space.hpp>
#include <vector>

namespace shardplan {

/// Indices into SearchSpace::remat_policies.
struct RematOrder {
  std::vector<std::size_t> policies;             ///< those that are ordered, as the space has them
  std::vector<std::size_t> smallest;             ///< one of these needs least device memory, whatever the mesh
  std::vector<std::size_t> fastest;              ///< one of these takes least time
  std::vector<std::vector<std::size_t>> larger;  ///< for each policy those that need more device memory
};

/// Those that MaxText starts with so many stages.
std::vector<std::size_t> policies_with(const SearchSpace& space, int stages);

RematOrder remat_order(const SearchSpace& space, std::vector<std::size_t> policies);

}  // namespace shardplan
