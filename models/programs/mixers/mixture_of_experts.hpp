#pragma once
// The parts of a mixture of experts: router, and routed experts with or without padding.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// Two views of the hidden state: what experts read and what the router reads, the same in most models.
struct MixtureInput {
  TensorId tokens, router;
};

/// The router: logits [batch, sequence, experts] under `constraint`.
TensorId add_router(BlockBuilder& b, TensorId x, const Constraint& constraint);

/// Routed experts on the path that the settings choose; their width is that of the tokens.
TensorId add_routed_experts(BlockBuilder& b, const MixtureInput& in);
TensorId add_experts_dropping(BlockBuilder& b, const MixtureInput& in);
TensorId add_experts_sparse(BlockBuilder& b, const MixtureInput& in);

}  // namespace shardplan
