#pragma once
// The parts of a mixture of experts: router, and routed experts with or without padding.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// The router: logits [batch, sequence, experts] under `constraint`.
TensorId add_router(BlockBuilder& b, TensorId x, const Constraint& constraint);

TensorId add_experts_dropping(BlockBuilder& b, TensorId x);
TensorId add_experts_sparse(BlockBuilder& b, TensorId x);

}  // namespace shardplan
