#pragma once
// What partitioning one block yields: everything that pricing and memory need, still without a machine.
#include <cost_models/partition/layout.hpp>
#include <cost_models/partition/liveness.hpp>
#include <shardplan/bound_program.hpp>
#include <shardplan/collective.hpp>
#include <shardplan/compiler.hpp>

namespace shardplan {

enum class WorkKind : std::uint8_t { matmul, attention, vector };

/// The compute of one operation on one device, per execution of its block.
struct OperationWork {
  std::string name;
  WorkKind kind = WorkKind::vector;
  Flops forward, backward;
  Bytes forward_traffic, backward_traffic;  ///< HBM reads and writes that fusion leaves
  bool recomputed = false;                  ///< forward runs twice
};

/// A buffer that one run of the block's body needs, from the step that writes it to the last that reads it. Steps count
/// the operations run: forward, then recomputation, then backward.
struct Lifetime {
  std::string name;
  Bytes bytes;
  int first = 0, last = 0;
};

struct PartitionedBlock {
  const Block* block = nullptr;
  std::vector<PartitionSpec> specs;     ///< one a tensor, propagation done
  std::vector<Collective> collectives;  ///< executions are per step
  std::vector<OperationWork> work;
  Liveness liveness;
  Bytes gathered_weights;           ///< all gathered weight forms of one execution of the body
  std::vector<Lifetime> lifetimes;  ///< of one execution: values, gradients, gathered forms
  int backward_begins = 0;          ///< step at which recomputation (or backward) starts
  int gradients_begin = 0;          ///< step after recomputation
};

/// Derives the collectives of forward, recomputed forward and backward of one block.
PartitionedBlock partition_block(const BoundProgram& program, const BoundBlock& block, const TrainConfig& config,
                                 const Compiler& compiler);

/// All blocks, in order.
std::vector<PartitionedBlock> partition(const BoundProgram& program, const TrainConfig& config,
                                        const Compiler& compiler);

}  // namespace shardplan
