#pragma once
// Vector work of the layers' stacks, beside the operations of a block. Saved values go into their stack; each weight is
// cut out of its own and cast in each pass, and its gradient is written. In a pipeline that happens once a step, not in
// each iteration. Private to this room.
#include <cost_models/partition/block_state.hpp>
#include <cost_models/partition/operation_work.hpp>

namespace shardplan {

/// Of one run of the block's body, both passes.
OperationWork stack_work(const BlockState& state, const std::vector<TensorId>& saved);

}  // namespace shardplan
