#include <algorithm>
#include <cost_models/layouts/stacked_layers.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {

std::int64_t layers_on_device(const Block& block, const PipelineShape& pipeline) {
  return block.in_pipeline ? divided_up(block.layers, pipeline.stages) : block.layers;
}

std::int64_t layers_in_an_array(const Block& block, const PipelineShape& pipeline, const TrainConfig& config) {
  const bool scanned = (config.scan_layers || block.in_pipeline) && !block.beside_scan;
  if (!scanned) return 1;
  const std::int64_t places = block.own_loop ? 1 : block.layers_per_cycle;  // a loop of its own is a dim of the array
  return std::max<std::int64_t>(1, layers_on_device(block, pipeline) / places);
}

bool moves_layer_stack(const PipelineShape& pipeline, const TrainConfig& config) {
  return pipeline.stages > 1 && pipeline.repeats > 1 && config.pipeline_fsdp_ag_once;
}

std::int64_t elements_on_repeats(std::int64_t elements, const PipelineShape& pipeline) {
  return elements / pipeline.repeats * rounded_up(pipeline.repeats, pipeline.stages);
}

}  // namespace shardplan
