#pragma once
// Of layers with a dense feed-forward: what of their backward pass has no buffer of its own, and what has one more.
#include <cost_models/blocks/liveness.hpp>
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// A norm that only products of the feed-forward read: they, and the products of their weights' gradients, compute it from
/// what it norms, where that is there.
bool is_norm_made_where_read(const BlockState& state, const Operation& op);

/// The operand of an addition that has the sum's gradient for its own until something is added to it, beside `term`, which
/// nothing else reads: one buffer until then. -1: none.
TensorId shares_gradient_of_sum(const BlockState& state, TensorId term);

/// What a policy saved, or moved to the host, and an attention kernel reads: cut out of its stack, since a kernel reads
/// whole arrays. That takes less than what the feed-forward makes again, so that it runs before: from the start of the
/// iteration on; of several layers in one, from when its own gradients begin.
std::vector<Lifetime> cut_kernel_operands(const BlockState& state, const Schedule& schedule, const Liveness& liveness);

}  // namespace shardplan
