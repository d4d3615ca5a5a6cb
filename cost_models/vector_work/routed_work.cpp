#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/vector_work/routed_work.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// How many times a dim of this size is there, its layout's fill included; of `size` itself 1 without fill.
double fill(const BlockState& state, std::int64_t size) {
  if (!state.compiler.has(Habit::pads_to_tiles)) return 1;
  return static_cast<double>(rounded_up(size, sublanes)) / static_cast<double>(size);
}

/// Of all rows that the device routes, and of its buffer's where they were exchanged; kernels of MaxText's own
/// (use_ragged_sort) leave other devices' rows out.
double sorted_elements(const BlockState& state, const RoutedRows& rows, double routed, double held) {
  if (rows.exchanged) return routed + held;
  return state.config.use_ragged_sort ? std::min(routed, held) : routed;
}

}  // namespace

// Of 100 tokens of width 2048 with 2 experts each: 2·100·2048 elements, 8·100·2048 where dims fill up to 8.
OperationWork routed_work(const BlockState& state, const RoutedRows& rows) {
  constexpr std::int64_t exchanged_width = 1024;
  const VectorKernels& kernels = state.compiler.vector_kernels;
  const Tensor& buffer = state.tensor(rows.buffer);
  const std::int64_t k = state.block.experts_per_token;
  const double routed = rows.token_elements * static_cast<double>(k), held = vector_elements(state, rows.buffer);
  const VectorCosts& own = kernels.of(rows.dispatched ? VectorKernel::token_copies : VectorKernel::copies_sum);
  OperationWork work;
  work.vector_forward = vector_work(own.forward, routed * fill(state, k), buffer.dtype);
  work.vector_backward = vector_work(own.backward, routed * fill(state, k), buffer.dtype);
  const VectorCosts& sorted = kernels.of(VectorKernel::sorted_rows);
  work.vector_forward += vector_work(sorted.forward, sorted_elements(state, rows, routed, held), buffer.dtype);
  work.vector_backward += vector_work(sorted.backward, sorted_elements(state, rows, routed, held), buffer.dtype);
  if (rows.dispatched)
    work.vector_backward += vector_work(kernels.of(VectorKernel::routed_rows).backward, held, buffer.dtype);
  if (!rows.exchanged) return work;
  const VectorCosts& sent = kernels.of(VectorKernel::exchanged_rows);
  const double filled = fill(state, std::max<std::int64_t>(buffer.dims.back().size / exchanged_width, 1));
  if (!rows.dispatched) {
    work.vector_backward += vector_work(sent.forward, routed * filled, buffer.dtype);
    return work;
  }
  work.vector_forward += vector_work(sent.forward, routed * filled, buffer.dtype);
  work.vector_backward += vector_work(sent.backward, held * filled, buffer.dtype);
  return work;
}

}  // namespace shardplan
