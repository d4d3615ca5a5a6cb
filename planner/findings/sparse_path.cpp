#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/findings/sparse_path.hpp>
#include <rules/expert_tiles.hpp>
#include <string>
#include <vector>

namespace shardplan {

Configuration on_sparse_path(Configuration c) {
  c.config.moe_path = MoePath::ragged;
  c.config.idle_ring_of_experts = false;
  c.config.megablox = c.compiler.kernels.runs_megablox();
  c.config.moe_dispatch_no_expert_sharding = false;
  divide_expert_columns(c);
  return c;
}

std::string sparse_path_words(const TrainConfig& now, const TrainConfig& sparse) {
  std::vector<std::string> words;
  if (!now.runs_sparse_experts()) words.emplace_back("sparse_matmul=True");
  if (now.moe_path == MoePath::ring || now.idle_ring_of_experts) words.emplace_back("use_ring_of_experts=False");
  if (now.megablox && !sparse.megablox) words.emplace_back("megablox=False");
  if (now.wi_tile_fwd_mlp_dim != sparse.wi_tile_fwd_mlp_dim)
    words.push_back(fmt::format("wi_tile_fwd_mlp_dim={}", sparse.wi_tile_fwd_mlp_dim));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string dropping_path_words() {
  return fmt::format("sparse_matmul=False capacity_factor={} (leaves tokens out)", usual_capacity_factor);
}

}  // namespace shardplan
