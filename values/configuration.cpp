#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

// MaxText configs/types.py: deepseek runs its dense layers before the pipeline.
std::int64_t pipelined_layers(const Model& model) {
  return model.decoder_block == "deepseek" ? model.layers - model.first_dense_layers : model.layers;
}

}  // namespace

std::int64_t global_batch(const Configuration& configuration) {
  const auto devices = static_cast<double>(configuration.mesh.devices());
  return static_cast<std::int64_t>(devices * configuration.config.per_device_batch_size);
}

int pipeline_stages(const Mesh& mesh) { return mesh.size_of("stage"); }

std::int64_t layer_batch(const Configuration& configuration) {
  const std::int64_t batch = global_batch(configuration);
  if (pipeline_stages(configuration.mesh) == 1) return batch;
  return batch / configuration.config.num_pipeline_microbatches;
}

TrainConfig with_pipeline_counts(TrainConfig config, const Model& model, int stages) {
  if (stages == 1) return config;
  if (config.pipeline_parallel_layers == -1) config.pipeline_parallel_layers = pipelined_layers(model);
  if (config.num_pipeline_microbatches == -1)
    config.num_pipeline_microbatches = config.pipeline_delay_activation_forwarding ? 2 * stages : stages;
  const std::int64_t layers_per_repeat = stages * config.num_layers_per_pipeline_stage;
  if (config.num_pipeline_repeats == -1 && layers_per_repeat > 0 &&
      config.pipeline_parallel_layers % layers_per_repeat == 0)
    config.num_pipeline_repeats = config.pipeline_parallel_layers / layers_per_repeat;
  return config;
}

}  // namespace shardplan
