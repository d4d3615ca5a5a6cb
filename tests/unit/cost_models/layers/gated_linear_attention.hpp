#pragma once
// A layer kind that shardplan does not ship, as docs/architecture.md describes one: a mixer in files of its own.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// Attention without softmax: keys and values are summed into one state a head, which every query reads and a gate
/// scales. [batch, sequence, embed] to the same.
TensorId add_gated_linear_attention(BlockBuilder& b, TensorId x);

}  // namespace shardplan
