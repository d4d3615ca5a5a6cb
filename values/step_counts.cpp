#include <cmath>
#include <shardplan/step_counts.hpp>

namespace shardplan {
namespace {

// MaxText configs/types.py: deepseek runs its dense layers before the pipeline.
std::int64_t pipelined_layers(const Model& model) {
  return model.decoder_block.dense_layers_before_pipeline ? model.layers - model.first_dense_layers : model.layers;
}

}  // namespace

double sequences_in_a_pass(const TrainConfig& config, std::int64_t devices) {
  const double sequences = static_cast<double>(devices) * config.per_device_batch_size;
  const double nearest = std::round(sequences);
  return std::abs(sequences - nearest) < 1e-6 ? nearest : sequences;
}

std::int64_t global_batch(const TrainConfig& config, std::int64_t devices) {
  return static_cast<std::int64_t>(sequences_in_a_pass(config, devices));
}

std::int64_t forwarding_delay(const TrainConfig& config) { return config.pipeline_delay_activation_forwarding ? 2 : 1; }

TrainConfig with_pipeline_counts(TrainConfig config, const Model& model, std::int64_t stages) {
  if (stages == 1) return config;
  if (config.pipeline_parallel_layers == -1) config.pipeline_parallel_layers = pipelined_layers(model);
  if (config.num_pipeline_microbatches == -1)
    config.num_pipeline_microbatches = forwarding_delay(config) * stages;
  const std::int64_t layers_per_repeat = stages * config.num_layers_per_pipeline_stage;
  if (config.num_pipeline_repeats == -1 && layers_per_repeat > 0 &&
      config.pipeline_parallel_layers % layers_per_repeat == 0)
    config.num_pipeline_repeats = config.pipeline_parallel_layers / layers_per_repeat;
  return config;
}

}  // namespace shardplan
