#pragma once
// jax.lax.ragged_dot where the compiler has no kernel for it (Habit::ragged_dot_is_dense): XLA's RaggedDotRewriter
// writes the rows R of an operand once for each of the g experts on the device, masked, [g, R, k], and multiplies that.
// A product of rows wants it as [R, g, k], which is one more copy; the gradient of a weight, which contracts rows, as it
// is. What is expanded needs no longer exist as it was. Weight gradients come before the gradients of rows: they let go
// of more (the same passes and order in programs compiled for H100). Private to this room.
#include <cost_models/operations/operation_kind.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>

namespace shardplan {

/// Whether a product of expert rows and expert weights is computed so.
bool is_dense_ragged_dot(const BlockState& state, const Operation& op);

/// What writing these copies takes, those of rows once for all of their products: forward they are written as [R, g, k];
/// in the backward pass rows and gradients of results as [g, R, k], and those that are multiplied row by row turned.
/// Worked: 16 experts, 524,288 rows of 2,048 in bf16 on an H100: 34.4 GB, 12.1 ms to write and 22.8 to turn.
void add_expanded_rows(OperationWork& work, const BlockState& state, const Operation& op);

/// The step that expands its rows.
int expands_operand(const BlockState& state, const Schedule& schedule, OperationId id);

/// The copies of its operands, and of the gradient of its result.
std::vector<Lifetime> expanded_operands(const BlockState& state, const Schedule& schedule, OperationId id);

/// The first step of the gradients of all such products of the same rows (wi_0 and wi_1): all their weights' gradients.
int weight_gradients_step(const BlockState& state, const Schedule& schedule, OperationId id);

/// The last step of the result's gradient as it was before it is expanded. An activation's gradient writes the copies
/// themselves, an exchange can't.
int plain_gradient_ends(const BlockState& state, const Schedule& schedule, OperationId id);

}  // namespace shardplan
