#include <algorithm>
#include <shardplan/configuration.hpp>

namespace shardplan {

std::int64_t global_batch(const Configuration& configuration) {
  return global_batch(configuration.config, configuration.mesh.devices());
}

bool runs_splash(const TrainConfig& config, const Compiler& compiler) {
  constexpr std::int64_t least_length = 128;
  const bool chosen = config.attention == AttentionKernel::flash ||
                      (config.attention == AttentionKernel::autoselected && config.max_target_length >= least_length);
  return chosen && compiler.kernels.has_tokamax_splash;
}

DeviceOrder device_order(const TrainConfig& config) { return {config.allow_split_physical_axes, config.custom_mesh}; }

const StartCondition* broken_condition(const Configuration& configuration) {
  const auto& conditions = configuration.start_conditions;
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const StartCondition& condition) {
    return condition.is_broken(configuration);
  });
  return found == conditions.end() ? nullptr : &*found;
}

std::vector<CompilerFlag> flags_of(const Configuration& configuration) {
  std::vector<CompilerFlag> flags = configuration.compiler.flags;
  if (!offloads(configuration.config.saved))
    std::erase_if(flags, [](const CompilerFlag& flag) { return flag.of_offloading; });
  return flags;
}

int pipeline_stages(const Mesh& mesh) { return mesh.size_of(AxisRole::stage); }

std::int64_t layer_batch(const Configuration& configuration) {
  const std::int64_t batch = global_batch(configuration);
  if (pipeline_stages(configuration.mesh) == 1) return batch;
  return batch / configuration.config.num_pipeline_microbatches;
}

}  // namespace shardplan
