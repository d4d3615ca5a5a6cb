#pragma once
// What a value takes that waits for the backward pass, in the stack of its layers: on the device, or in the host's memory,
// where stacks lie as on the device.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Of one layer. Heads lie as their kernel wants them, in whole tiles: 64 numbers take the room of 128, 192 that of 256.
/// Rows of experts lie as their kernel writes them, features along the lanes: bf16[48,524288,192]{2,1,0:T(8,128)(2,1)} of
/// 12,884,901,888 bytes (plan_qwen330ba3b_tpuv5p_32_s4096_meshset4), 2,880 take the room of 2,944.
/// Other values have their sequence along the lanes. gptoss20b_v5p32_savedotctx, twelve cycles:
/// bf16[12,16,2048,64,64]{4,2,3,1,0:T(8,128)(2,1)} of 6,442,450,944 bytes, bf16[12,16,2048,2880]{2,3,1,0:T(8,128)(2,1)} of
/// 2,264,924,160; likewise in host memory (gptoss20b_v5p32_qkvoff) and of latent attention. What an unscanned layer keeps
/// is not known to lie so.
Bytes saved_bytes(const PartitionedBlock& block, TensorId value, const Mesh& mesh);

/// A value that waits for its block's backward pass.
struct SavedValue {
  TensorId tensor;
  Bytes bytes;         ///< of one layer
  std::int64_t times;  ///< layers of one device that keep it; of a pipeline's, in each of its iterations
};
/// Of blocks beside the scan, of which all values wait, none.
std::vector<SavedValue> saved_values(const PartitionedBlock& block, const BoundProgram& program);

/// Activations of a block that wait for its backward pass, all layers (or pipeline iterations) of one device.
Bytes saved_activations(const PartitionedBlock& block, const BoundProgram& program);

/// Of a lookup by one-hot ids, the mask that the table's gradient reads: another one than the lookup's, made while the table
/// or the head's weight is gathered, which waits for the step's end where it is large (Habit::keeps_lookup_masks). Not
/// counted in models with experts: live ranges of two have it at the peak, and the head's weight gradient early, which is
/// about as much less (qwen330ba3bx2_7x8_fsdp8_iota, mixtral8x22bx2_7x8_fsdp8_iota_s8192); when that is so isn't known
/// (plan_gptoss120b_tpu7x_32_s16384_true would be 9% low with both). Nor of words that are split: no peak of theirs has it
/// (qwen38bx2_7x8_fsdp2tp4_iota).
Bytes kept_lookup_mask(const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler);

/// Of a loop's stacks those of which XLA:GPU makes another one, in another order, before its backward pass: experts'
/// outputs on the dropping path [experts, sequences, slots, embed], where a device has several experts and sequences. The
/// gradient of the mask that combines them is a product for each sequence: its operand has to lie with the sequences first,
/// a loop's stack gets the layout that its body wants, and is copied whole at its entry (gpu_layout_assignment.cc).
/// DeepSeek2-16B, 8 sequences a device: bf16[26,64,8,240,2048], 13.1 GB, becomes bf16[8,2048,26,64,240].
Bytes turned_stacks(const PartitionedBlock& block, const Mesh& mesh, const Compiler& compiler);

}  // namespace shardplan
