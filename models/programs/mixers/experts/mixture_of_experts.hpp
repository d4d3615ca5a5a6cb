#pragma once
// The parts of a mixture of experts: router, and routed experts with or without padding.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// Two views of the hidden state: what experts read and what the router reads, the same in most models.
struct MixtureInput {
  TensorId tokens, router;
  bool by_token = false;  ///< a table has each token's experts; the router only weighs them (hash routing)
};

/// The router: logits [batch, sequence, experts] under `constraint`.
TensorId add_router(BlockBuilder& b, const MixtureInput& in, const Constraint& constraint);

/// Routed experts on the path that the settings choose; their width is that of the tokens.
TensorId add_routed_experts(BlockBuilder& b, const MixtureInput& in);
TensorId add_experts_dropping(BlockBuilder& b, const MixtureInput& in);
TensorId add_experts_sparse(BlockBuilder& b, const MixtureInput& in);

}  // namespace shardplan
