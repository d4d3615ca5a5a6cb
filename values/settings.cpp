#include <shardplan/settings.hpp>

namespace shardplan {

TrainConfig with_kernels(const Settings& settings, const Kernels& kernels) {
  TrainConfig config = settings.config;
  if (!settings.says(&TrainConfig::attention)) config.attention = kernels.attention;
  if (!settings.says(&TrainConfig::megablox)) config.megablox = kernels.grouped_matmul == GroupedMatmul::megablox;
  return config;
}

}  // namespace shardplan
