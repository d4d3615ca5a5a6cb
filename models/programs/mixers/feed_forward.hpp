#pragma once
// The feed-forward that dense layers and shared experts have.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// `prefix` "mlp" or "shared_experts"; `width` is the hidden dim.
TensorId add_feed_forward(BlockBuilder& b, TensorId x, const std::string& prefix, std::int64_t width);

}  // namespace shardplan
