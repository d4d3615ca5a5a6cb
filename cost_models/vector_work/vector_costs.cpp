#include <algorithm>
#include <cost_models/vector_work/vector_costs.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/partition/logits.hpp>

namespace shardplan {
namespace {

/// A product that the compiler writes itself; those of expert rows are kernels written by hand (megablox, tokamax).
bool is_fusable_product(const BlockState& state, const Operation& op) {
  return op.kind == OpKind::einsum && index_of(state.tensor(op.output).dims, Dim::rows) < 0;
}

/// Whether an operation reads the tensor, which may be under constraints, and `holds`.
template <class Holds>
bool some_reader(const Block& block, const DataFlow& flow, TensorId tensor, Holds holds) {
  const auto readers = flow.readers(tensor);
  return std::any_of(readers.begin(), readers.end(), [&](OperationId id) {
    const Operation& op = block.operations[id];
    return op.kind == OpKind::constrain ? some_reader(block, flow, op.output, holds) : holds(op);
  });
}

/// Whether the operation that makes the tensor, which may be under constraints, exists and `holds`.
template <class Holds>
bool maker_is(const BlockState& state, TensorId tensor, Holds holds) {
  const OperationId maker = state.flow().maker(state.flow().origin(tensor));
  return maker >= 0 && holds(state.block.operations[maker]);
}

/// Part of the kernel of one.
bool is_part_of_product(const BlockState& state, const Operation& op) {
  if (is_fusable_product(state, op)) return true;
  const bool elementwise = op.kind == OpKind::elementwise || op.kind == OpKind::add;
  return elementwise && runs_beside_product(state, op);
}

}  // namespace

double vector_elements(const BlockState& state, TensorId id) {
  const Tensor& tensor = state.tensor(id);
  const bool fills = state.compiler.has(Habit::pads_to_tiles) && !tensor.dims.empty();
  return static_cast<double>(fills ? row_elements(tensor, state.spec(id), state.mesh)
                                   : local_elements(tensor.dims, state.spec(id), state.mesh));
}

void add_vector_work(OperationWork& work, const BlockState& state, VectorKernel kernel, TensorId tensor) {
  const VectorCosts& costs = state.compiler.vector_kernels.of(kernel);
  const double elements = vector_elements(state, tensor);
  work.vector_forward += vector_work(costs.forward, elements, state.tensor(tensor).dtype);
  work.vector_backward += vector_work(costs.backward, elements, state.tensor(tensor).dtype);
}

bool runs_beside_product(const BlockState& state, const Operation& op) {
  const auto is_product = [&](const Operation& other) { return is_fusable_product(state, other); };
  const auto made_by_one = [&](TensorId input) { return maker_is(state, input, is_product); };
  return std::any_of(op.inputs.begin(), op.inputs.end(), made_by_one) ||
         some_reader(state.block, state.flow(), op.output, is_product);
}

bool is_made_by_product(const BlockState& state, TensorId tensor) {
  return state.compiler.vector_kernels.fuses_into_products &&
         maker_is(state, tensor, [&](const Operation& op) { return is_part_of_product(state, op); });
}

bool is_read_by_product(const BlockState& state, TensorId tensor) {
  return state.compiler.vector_kernels.fuses_into_products &&
         some_reader(state.block, state.flow(), tensor,
                     [&](const Operation& op) { return is_part_of_product(state, op); });
}

bool is_part_of_narrowing(const BlockState& state, const Operation& op) {
  const auto reads_wide = [&](const Operation& reader) {
    return !reader.narrow || !reader.narrow->activation || !is_fusable_product(state, reader);
  };
  return state.compiler.vector_kernels.fuses_into_products && !state.flow().readers(op.output).empty() &&
         !some_reader(state.block, state.flow(), op.output, reads_wide);
}

namespace {

/// Of one bias of an operation on rows of experts. XLA:GPU has additions of float32, which don't wait for each other.
RowSums sums_of_bias(const BlockState& state, const Operation& op, TensorId bias) {
  const Tensor& rows = state.tensor(op.output);
  const int of_rows = index_of(rows.dims, Dim::rows), of_experts = index_of(state.tensor(bias).dims, Dim::experts);
  if (of_rows < 0 || of_experts < 0 || rows.dtype != DType::bf16 || !state.tensor(bias).differentiable) return {};
  const double width = static_cast<double>(rows.dims.back().size) /
                       static_cast<double>(state.mesh.product(state.spec(op.output).dims.back()));
  const double experts = vector_elements(state, bias) / width, numbers = vector_elements(state, op.output);
  return {numbers, numbers / width / experts, width};
}

}  // namespace

// A sum of two tensors of 100 elements into a third: 300 operands; backward 500.
OperationWork elementwise_work(const BlockState& state, const Operation& op) {
  if (is_part_of_loss(state.block, state.flow(), op) || is_part_of_narrowing(state, op)) return {};
  const double result = vector_elements(state, op.output);
  double read = 0, largest = result;
  OperationWork work;
  for (const TensorId input : op.inputs) {
    if (state.tensor(input).parameter) {
      const RowSums sums = sums_of_bias(state, op, input);
      if (sums.numbers > 0) work.row_sums = {work.row_sums.numbers + sums.numbers, sums.rows, sums.width};
      continue;
    }
    const double elements = vector_elements(state, input);
    read += elements;
    largest = std::max(largest, elements);
  }
  const VectorKernels& kernels = state.compiler.vector_kernels;
  const bool beside = runs_beside_product(state, op);
  const VectorCosts& costs = kernels.of(beside ? VectorKernel::beside_product : VectorKernel::alone);
  const bool fused = beside && kernels.fuses_into_products;
  const DType dtype = state.tensor(op.output).dtype;
  (fused ? work.fused_forward : work.vector_forward) =
      vector_work({costs.forward.passes, costs.forward.operands * (read + result) / largest}, largest, dtype);
  (fused ? work.fused_backward : work.vector_backward) =
      vector_work({costs.backward.passes, costs.backward.operands * (2 * read + result) / largest}, largest, dtype);
  return work;
}

}  // namespace shardplan
