#pragma once
// Vector work of the layers' stacks, beside the operations of a block. Saved values go into their stack; each weight is
// cut out of its own and cast in each pass, and its gradient is written. In a pipeline that happens once a step, not in
// each iteration. Private to this room.
#include <cost_models/partition/partitioned_block.hpp>

namespace shardplan {

/// Of one run of the block's body, all passes of the step; of the block its specs and what is saved.
OperationWork stack_work(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler);

}  // namespace shardplan
