#pragma once
// How the devices share the work: the rules, the mesh, the path through the experts, and how a mesh with stages runs
// its pipeline. The search sees each one once, whatever it is called.
#include <planner/search/space/pipeline_options.hpp>
#include <planner/search/space/rejections.hpp>
#include <planner/search/space/search_space.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct Parallelism {
  std::size_t rules = 0;  ///< index into SearchSpace::rule_sets
  Mesh mesh;
  MoePath moe_path = MoePath::none;
  bool dispatch_peeled = false;  ///< moe_dispatch_no_expert_sharding
  PipelineSchedule schedule = {};
  bool optimizer_over_data = false;  ///< shard_optimizer_over_data: ZeRO-1
  std::vector<BatchOption> batches;  ///< smallest first; behind the last finer ones, where a search has tried them
  std::size_t place = 0;             ///< equal numbers: the same rules on the same mesh
  std::size_t alternative = 0;       ///< equal numbers: shown as one alternative (is_alike)
  Bytes least_memory = {};           ///< of a device, whatever batch and policy
  std::optional<SplashBlocks> attention_blocks = {};  ///< empty: those of the request
};

struct Parallelisms {
  std::vector<Parallelism> list;
  Rejections rejections;
  std::size_t meshes = 0;  ///< rule set × mesh that were tried
  std::string refused;     ///< what is said of the given word that no mesh can start with; empty: some could
};

/// Every rule set × mesh × path × schedule of a pipeline, and ZeRO-1 where fsdp can't take more of data, that the machine's
/// torus holds and MaxText accepts. Two that give every tensor of the training step the same sharding are one
/// candidate: the first rule set of the request keeps it.
Parallelisms enumerate_parallelisms(const SearchSpace& space);

/// Gives a configuration that has the rules and the mesh of the parallelism all other settings of one candidate.
void set_config(Configuration& configuration, const SearchSpace& space, const Parallelism& parallelism,
                const RematPolicy& remat, const BatchOption& batch);

/// The same of one that the search lends, which has no other rules and mesh.
LentConfiguration lend_configuration(const SearchSpace& space, const Parallelism& parallelism, const RematPolicy& remat,
                                     const BatchOption& batch);

/// One candidate in full.
Configuration configuration_of(const SearchSpace& space, const Parallelism& parallelism, const RematPolicy& remat,
                               const BatchOption& batch);

}  // namespace shardplan
