#include <cost_models/layouts/stacked_layers.hpp>

namespace shardplan {

std::int64_t layers_on_device(const Block& block, const PipelineShape& pipeline) {
  return block.in_pipeline ? (block.layers + pipeline.stages - 1) / pipeline.stages : block.layers;
}

bool moves_layer_stack(const PipelineShape& pipeline, const TrainConfig& config) {
  return pipeline.stages > 1 && pipeline.repeats > 1 && config.pipeline_fsdp_ag_once;
}

}  // namespace shardplan
