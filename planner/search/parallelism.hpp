#pragma once
// How the devices share the work: the rules, the mesh and the path through the experts. The search sees each one once,
// whatever it is called.
#include <planner/search/rejections.hpp>
#include <planner/search/search_space.hpp>
#include <vector>

namespace shardplan {

struct Parallelism {
  std::size_t rules = 0;  ///< index into SearchSpace::rule_sets
  Mesh mesh;
  MoePath moe_path = MoePath::none;
  bool dispatch_peeled = false;      ///< moe_dispatch_no_expert_sharding
  std::vector<BatchOption> batches;  ///< smallest first
};

struct Parallelisms {
  std::vector<Parallelism> list;
  Rejections rejections;
};

/// Every rule set × mesh × path that the machine's torus holds and MaxText accepts. Two that give every tensor of the
/// training step the same sharding are one candidate: the first rule set of the request keeps it.
Parallelisms enumerate_parallelisms(const SearchSpace& space);

/// One candidate in full, without maxtext_arguments (an expense that only the plans shown need).
Configuration configuration_of(const SearchSpace& space, const Parallelism& parallelism, const std::string& remat,
                               const BatchOption& batch);

}  // namespace shardplan
