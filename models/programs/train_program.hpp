#pragma once
// The program of one step: embedding, decoder layer stacks (inside or outside a pipeline), head and loss.
#include <models/programs/layers/layer_kinds.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// What a program depends on besides model and settings.
struct ParallelShape {
  std::int64_t devices = 1;       ///< all slices
  std::int64_t stages = 1;        ///< size of mesh axis `stage`
  std::int64_t expert_group = 1;  ///< product of the axes of rule `exp`, fsdp left out
  bool two_fsdp_axes = false;     ///< both fsdp and fsdp_transpose are above 1
  /// What the compiler makes of the loops; these unless it is known better.
  HabitSet habits = {Habit::merges_single_layer_scan, Habit::gathers_again_in_cycles, Habit::reduces_after_pipeline};
};

/// How MaxText lays layers over stages: repeats = layers / (stages × layers_per_stage); delay 2 when activations are
/// forwarded late; counts left at -1 as with_pipeline_counts fills them. The arithmetic is checked by the planner's
/// constraints.
PipelineShape pipeline_shape(const Model& model, const TrainConfig& config, std::int64_t stages);

/// A model's dims, and the layers made of them: layer_kinds' own, or others composed of mixers.
struct Decoder {
  Model model;
  std::vector<LayerKind> layers;
};

/// Throws InputError on a model whose layers are not modelled.
Decoder decoder_of(const Model& model);

Program train_program(const Decoder& decoder, const TrainConfig& config, const ParallelShape& shape);
Program train_program(const Model& model, const TrainConfig& config, const ParallelShape& shape);

/// One forward pass up to the logits: no loss, no gradient, no update.
Program forward_program(const Decoder& decoder, const TrainConfig& config, const ParallelShape& shape);

/// The model without a mesh: one device, one sequence, experts without padding. For what depends on the model alone.
Program reference_program(const Model& model, std::int64_t sequence);

}  // namespace shardplan
