#pragma once
// The program of one train step: embedding, decoder layer stacks (inside or outside a pipeline), head and loss.
#include <shardplan/model.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// What a program depends on besides model and settings.
struct ParallelShape {
  std::int64_t devices = 1;       ///< all slices
  std::int64_t stages = 1;        ///< size of mesh axis `stage`
  std::int64_t expert_group = 1;  ///< product of the axes of rule `exp`, fsdp left out
};

/// How MaxText lays layers over stages: repeats = layers / (stages × layers_per_stage); delay 2 when activations are
/// forwarded late; counts left at -1 as with_pipeline_counts fills them. The arithmetic is checked by the planner's constraints.
PipelineShape pipeline_shape(const Model& model, const TrainConfig& config, std::int64_t stages);

Program train_program(const Model& model, const TrainConfig& config, const ParallelShape& shape);

}  // namespace shardplan
