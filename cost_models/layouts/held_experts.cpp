#include <cost_models/layouts/held_experts.hpp>

namespace shardplan {

bool holds_gathered_experts(const Block& block, const PipelineShape& pipeline, const TrainConfig& config,
                            const Compiler& compiler) {
  return block.in_pipeline && block.mixture && pipeline.repeats == 1 && config.runs_sparse_experts() &&
         !config.pipeline_fsdp_ag_once && compiler.has(Habit::holds_experts_of_stages);
}

bool gathers_held_experts_again(const TrainConfig& config, const Compiler& compiler) {
  return config.dtype == config.weight_dtype && compiler.has(Habit::gathers_held_experts_again);
}

}  // namespace shardplan
