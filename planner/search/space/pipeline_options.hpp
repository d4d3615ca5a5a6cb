#pragma once
// How a mesh with stages may run its layers: the sizes of stages, repeats and microbatches that MaxText accepts
// (SHARDING.md section 2.6), as far as they are searched:
//   repeats        1, 2 and 4, where stages × repeats divide the layers in the pipeline
//   microbatches   one, two and four times the stages; MaxText takes multiples only
//   weights        gathered for every iteration, or once a step (pipeline_fsdp_ag_once) where fsdp splits them
// What the settings of the request say is the only choice.
#include <optional>
#include <planner/search/space/search_space.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

/// What a mesh leaves open of a pipeline; all 1 without one.
struct PipelineSchedule {
  std::int64_t layers_per_stage = 1, repeats = 1, microbatches = 1;
  bool gathered_once = false;        ///< pipeline_fsdp_ag_once
  std::int64_t forwarding_delay = 1;  ///< iterations (step_counts.hpp)
  auto operator<=>(const PipelineSchedule&) const = default;
};

/// Simplest first; one without stages. When the layers don't divide, the settings' own with -1 repeats, so that the
/// constraint it breaks can be reported.
std::vector<PipelineSchedule> pipeline_schedules(const SearchSpace& space, const Mesh& mesh);

/// The numbers of stages that leave every stage the same layers, 1 excluded, largest first.
std::vector<int> stage_sizes(const SearchSpace& space, int devices);

void set_schedule(TrainConfig& config, const PipelineSchedule& schedule, const Model& model, int stages);

/// Why the search plans no pipelines for this model: stages can't hold its layers (layers_differ), or they are pairs, of
/// which no pipeline was compared with a compiled one.
std::optional<Infeasible> pipelines_not_planned(const Model& model);

}  // namespace shardplan
