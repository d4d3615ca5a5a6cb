#pragma once
// What a search is over on one machine: everything that is the same for every candidate, and the choices that are not.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <planner/evaluate/binder_cache.hpp>
#include <planner/evaluate/configuration_pool.hpp>
#include <planner/evaluate/mesh_place.hpp>
#include <planner/evaluate/program_cache.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/machine/machine.hpp>
#include <shardplan/plan.hpp>
#include <shardplan/attention/splash_blocks.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Sequences of one forward pass per device, and forward passes per optimizer step.
struct BatchOption {
  double per_device_batch_size = 0;
  std::int64_t gradient_accumulation_steps = 1;
  auto operator<=>(const BatchOption&) const = default;
};

/// What of a prediction has to be within the memory for a candidate to fit.
enum class Certainty : std::uint8_t {
  sure,      ///< the high end of its range, and the reserve beside it
  expected,  ///< the expected peak
};

/// What an answer has to keep besides MaxText's and the machine's constraints.
struct Requirements {
  Certainty certainty = Certainty::sure;
  std::optional<Seconds> max_step;
};

using AskedAxes = std::map<std::string, AskedSizes, std::less<>>;  ///< by axis

struct SearchSpace {
  Requirements required;
  Configuration base;              ///< model, machine and settings; rules, mesh and the choices below are not set
  std::vector<RuleSet> rule_sets;  ///< in force without a pipeline (merged)
  std::vector<std::optional<RuleSet>> pipelined_sets;  ///< each as MaxText edits it for stages; empty: it has none
  AskedAxes asked_axes;                                ///< of which the request says the size in all; 1 too
  std::vector<MoePath> moe_paths;                      ///< {none} for a dense model
  bool plain_meshes = true;                            ///< those without stages are searched
  std::optional<bool> dispatch_peeled;                 ///< moe_dispatch_no_expert_sharding where the request fixes it
  bool layers_per_stage_fixed = false, gathered_once_fixed = false;  ///< the request says them
  bool optimizer_over_data_fixed = false;                            ///< likewise shard_optimizer_over_data
  bool accumulation_fixed = false;                                   ///< likewise gradient_accumulation_steps
  bool packing_fixed = false, capacity_fixed = false;                ///< likewise packing and capacity_factor
  bool expert_tile_fixed = false;                                    ///< likewise wi_tile_fwd_mlp_dim
  std::vector<SplashBlocks> attention_blocks;  ///< fastest first; empty: there are none to choose, or the request says them
  std::vector<RematPolicy> remat_policies;                           ///< least memory first
  std::vector<RematPolicy> unpriced_policies;  ///< left out: they offload to a host whose link the profile doesn't know
  std::optional<double> per_device_batch;
  std::optional<std::int64_t> global_batch_tokens;
  std::int64_t max_batch_tokens = 0;  ///< of a step, where the batch is searched
  std::shared_ptr<ProgramCache> programs = std::make_shared<ProgramCache>();  ///< of its candidates
  std::shared_ptr<BinderCache> binders = std::make_shared<BinderCache>();     ///< of its meshes
  std::shared_ptr<PlaceCache> places = std::make_shared<PlaceCache>();        ///< likewise
  std::shared_ptr<ConfigurationPool> configurations = std::make_shared<ConfigurationPool>();  ///< of its rule sets

  bool searches_batch() const { return !per_device_batch && !global_batch_tokens; }
  bool asks_for(AxisRole axis) const { return asked_axes.contains(name_of(axis)); }
};

/// Throws InputError on an axis that none of the rule sets has, and on tokens that are no whole number of sequences.
SearchSpace search_space(const PlanRequest& request, Machine machine);

/// The rules on a mesh: those without a pipeline, or edited for its stages.
const RuleSet& rules_on(const SearchSpace& space, std::size_t rules, const Mesh& mesh);

/// A number for these; equal ones have the same.
std::size_t number_of_rules(std::size_t rules, const Mesh& mesh);

/// And what binds programs to these.
std::shared_ptr<const Binder> binder_on(const SearchSpace& space, std::size_t rules, const Mesh& mesh);

/// The part of a space whose meshes have no stages, and the rest.
SearchSpace without_pipelines(SearchSpace space);
SearchSpace with_pipelines_only(SearchSpace space);

void set_batch(TrainConfig& config, const BatchOption& batch);

}  // namespace shardplan
