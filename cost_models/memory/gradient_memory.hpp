#pragma once
// Gradients that wait for the optimizer. A layer stack's are written layer by layer into stacks of weight_dtype; those
// of embedding and head stay in the compute dtype until the optimizer reads them.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// What all passes of a step are added up in, from the first one on; none of one pass. On TPUs experts' gradients on the
/// sorted paths lie as their kernel writes them, features along the lanes, so that 24 features of a device take the room of
/// 128, there and in the layers' stack (qwen3480bx16_v5p512_fsdp256_ga4: f32[160,16,2560,24]{3,2,0,1} of 3.4 GB); others
/// lie so that they take least (f32[25600,64,320]{0,2,1}).
Bytes gradients_of_passes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                          const Compiler& compiler);

/// Gradients of a layer stack while its backward pass runs: a scan (over layers or pipeline iterations) writes them
/// into stacks of weight_dtype; without a scan they stay in the compute dtype.
Bytes stack_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                      const Compiler& compiler);

/// Whether rows of a table are looked up in float32: their gradients wait in a buffer of their own.
bool has_wide_rows(const Block& block, TensorId table);

/// Whether another block has the head's weight: the embedding of a tied model, or the head itself that of multi-token
/// prediction reads.
bool is_tied(const PartitionedBlock& head);

/// Whether the gradient of the head's weights is expected behind the layers' backward pass, as far as habits say
/// (head_order.hpp weighs the other order); and whether it is there in a list, too, which runs next what frees most.
bool is_head_gradient_last_in_list(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                                   const Compiler& compiler);
bool is_head_gradient_deferred(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                               const Compiler& compiler);

/// The gradient of the head's weights before it is summed over devices.
Bytes unsummed_head_gradient(const PartitionedBlock& head, const BoundProgram& program);

/// Of a table's or the head's weights, once they are summed: whole where an all-reduce does that, which the optimizer
/// slices.
Bytes summed_gradients(const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler);

/// What the head leaves behind while the layers run backward, if the gradient of its weights is computed first: that
/// gradient, and logits that wait for the loss's value (Habit::computes_loss_value_late).
Bytes early_head_leftover(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                          const Compiler& compiler);

/// If it is computed last: the gradient of the logits, or they themselves, and the normed decoder output. With the loss in
/// chunks (num_vocab_tiling) there is nothing to wait.
Bytes late_head_leftover(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler);

/// What of a block's gradients the optimizer finds.
Bytes waiting_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                        const Compiler& compiler);

/// What of one such layer waits for its gradients, from its first run on: XLA merges the second one with it. What its
/// products read of its norms is computed where it is read.
Bytes merged_values(const PartitionedBlock& block, const Mesh& mesh);

/// What a layer's weight gradients read: inputs of its products, and gradients of their results; where a module is named, of
/// its products alone.
Bytes weight_gradient_operands(const PartitionedBlock& block, const Mesh& mesh, const Compiler& compiler,
                               Module of = Module::none);
/// All of them, of a layer whose hidden rows have no buffer: the projections that they are computed from are in their place
/// (Habit::fuses_hidden_rows).
Bytes late_gradient_operands(const PartitionedBlock& block, const Mesh& mesh, const Compiler& compiler);

/// Of these: weight gradients before they are summed, and
/// for each norm one tensor that its scale's gradient reads (Habit::leaves_gradients_behind_scans). Of four norms a layer
/// four to six such tensors were live in the loop (gemma34bx14_h100x8_fsdp8, h100c_gm4_fsdp8).
/// Of a feed-forward that a policy keeps also what its weight gradients read, which come last: of two layers of gemma3-27b
/// three [4096, 21504] each (gemma327b_h100x32_fsdp4_fsdp_transpose2_dcnfsdp4_minimal_offloaded_batch2).
Bytes gradients_behind_scan(const PartitionedBlock& block, std::int64_t cycles, const BoundProgram& program,
                            const Compiler& compiler);

/// And of those layers the weight gradients that are all-reduced though a device keeps a shard: a loop writes the shard into
/// its stack, here the slice waits for the optimizer, as of the head's. plan_gemma327b_tpuv6e_64, two of 62 layers: six
/// bf16[5376,21504] of 231,211,008 bytes from their all-reduces to the step's end.
Bytes whole_gradients_behind_scan(const PartitionedBlock& block, std::int64_t cycles, const BoundProgram& program,
                                  const Compiler& compiler);

}  // namespace shardplan
