#include <planner/evaluate/changed_mesh.hpp>
#include <rules/expert_tiles.hpp>

namespace shardplan {

void follow_mesh(Configuration& changed, const Configuration& now) {
  const std::int64_t usual = TrainConfig{}.wi_tile_fwd_mlp_dim;
  const std::int64_t columns = expert_columns(now);
  if (now.config.wi_tile_fwd_mlp_dim != columns || columns % usual == 0) return;
  changed.config.wi_tile_fwd_mlp_dim = usual;
  divide_expert_columns(changed);
}

}  // namespace shardplan
