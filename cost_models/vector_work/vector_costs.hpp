#pragma once
// Vector work of operations, at what the compiler's kernels cost an element.
#include <cost_models/partition/block_state.hpp>
#include <cost_models/partition/operation_work.hpp>

namespace shardplan {

/// Elements of a device's shard; where buffers are whole tiles, with the lanes that the last dim leaves empty.
double vector_elements(const BlockState& state, TensorId tensor);

/// What `kernel` costs on the elements of `tensor`, added to both passes of `work`.
void add_vector_work(OperationWork& work, const BlockState& state, VectorKernel kernel, TensorId tensor);

/// An elementwise operation: each input and the result an operand; its gradient reads the result's gradient and all
/// inputs and writes theirs.
OperationWork elementwise_work(const BlockState& state, const Operation& op);

/// Whether a product of the compiler's own (not a kernel written by hand) makes one of its inputs or reads its result.
bool runs_beside_product(const BlockState& state, const Operation& op);

/// Whether the kernel of such a product, with what the compiler fuses into it, makes the tensor; or reads it, and so makes
/// its gradient.
bool is_made_by_product(const BlockState& state, TensorId tensor);
bool is_read_by_product(const BlockState& state, TensorId tensor);

/// Elementwise work whose result only narrow products read: the kernels that narrow it, and the gradients of its inputs,
/// compute it on the way (compiled for v6e: Mixtral-8x7B with int8 in the dropping path; for 7x: Llama2-7B with fp8_full).
bool is_part_of_narrowing(const BlockState& state, const Operation& op);

}  // namespace shardplan
