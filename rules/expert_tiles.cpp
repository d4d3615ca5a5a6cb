#include <algorithm>
#include <rules/expert_tiles.hpp>
#include <rules/resolve.hpp>

namespace shardplan {

std::int64_t expert_columns(const Configuration& c) {
  const std::int64_t parts = c.mesh.product(axes_of_rule(c.rules, c.mesh, "mlp_no_fsdp"));
  return std::max<std::int64_t>(c.model.moe_mlp / parts, 1);
}

bool tiles_cut_scales(const Configuration& c) {
  const TrainConfig& config = c.config;
  const bool by_column = config.use_qwix_quantization ? config.quantization == Quantization::fp8_full &&
                                                            !config.weight_quantization_calibration_method.fixed
                                                      : config.quantization == Quantization::int8;
  const bool runs_megablox = config.runs_sparse_experts() && config.megablox && !config.use_tokamax_gmm;
  return runs_megablox && by_column && expert_columns(c) % config.wi_tile_fwd_mlp_dim != 0;
}

void divide_expert_columns(Configuration& c) {
  if (c.config.quantization == Quantization::int8 && tiles_cut_scales(c)) c.config.wi_tile_fwd_mlp_dim = expert_columns(c);
}

}  // namespace shardplan
