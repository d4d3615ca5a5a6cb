#pragma once
// The branches that a model's layers are made of, by what they attend to and what feeds forward.
#include <models/programs/layers/layer.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {

enum class Span { local, global };

/// Global layers of some blocks have heads of their own, and see all positions without rotating them.
AttentionHeads heads_of(const Model& model, Span span);

/// Attention, then a feed-forward; or one branch of both.
std::vector<Branch> branches_of(const Model& model, FeedForward feed_forward, Span span);

}  // namespace shardplan
