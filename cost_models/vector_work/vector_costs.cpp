#include <algorithm>
#include <cost_models/vector_work/vector_costs.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

/// A product that the compiler writes itself; those of expert rows are kernels written by hand (megablox, tokamax).
bool is_fusable_product(const BlockState& state, const Operation& op) {
  return op.kind == OpKind::einsum && index_of(state.tensor(op.output).dims, Dim::rows) < 0;
}

/// The tensor that `id` is another name of: constraints are no operations to a device.
TensorId origin(const BlockState& state, TensorId id) {
  for (const Operation& op : state.block.operations)
    if (op.output == id && op.kind == OpKind::constrain) return origin(state, op.inputs.front());
  return id;
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
  const auto inside = [&](const Operation& other) {
    if (!is_fusable_product(state, other)) return false;
    const auto made_by_it = [&](TensorId input) { return origin(state, input) == other.output; };
    if (std::any_of(op.inputs.begin(), op.inputs.end(), made_by_it)) return true;
    return std::any_of(other.inputs.begin(), other.inputs.end(),
                       [&](TensorId input) { return origin(state, input) == op.output; });
  };
  return std::any_of(state.block.operations.begin(), state.block.operations.end(), inside);
}

bool is_made_by_product(const BlockState& state, TensorId tensor) {
  const TensorId made = origin(state, tensor);
  return state.compiler.vector_kernels.fuses_into_products && std::any_of(state.block.operations.begin(), state.block.operations.end(), [&](const Operation& op) {
    return op.output == made && is_part_of_product(state, op);
  });
}

bool is_read_by_product(const BlockState& state, TensorId tensor) {
  return state.compiler.vector_kernels.fuses_into_products && std::any_of(state.block.operations.begin(), state.block.operations.end(), [&](const Operation& op) {
    const auto reads = [&](TensorId input) { return origin(state, input) == tensor; };
    return std::any_of(op.inputs.begin(), op.inputs.end(), reads) && is_part_of_product(state, op);
  });
}

bool is_part_of_loss(const Block& block, const Operation& op) {
  const auto reads = [&](const Operation& other) {
    return std::find(other.inputs.begin(), other.inputs.end(), op.output) != other.inputs.end();
  };
  return op.kind == OpKind::elementwise &&
         std::any_of(block.operations.begin(), block.operations.end(), [&](const Operation& other) {
           return other.kind == OpKind::cross_entropy && reads(other);
         });
}

// A sum of two tensors of 100 elements into a third: 300 operands; backward 500.
OperationWork elementwise_work(const BlockState& state, const Operation& op) {
  if (is_part_of_loss(state.block, op)) return {};
  const double result = vector_elements(state, op.output);
  double read = 0, largest = result;
  for (const TensorId input : op.inputs) {
    if (state.tensor(input).parameter) continue;
    const double elements = vector_elements(state, input);
    read += elements;
    largest = std::max(largest, elements);
  }
  const VectorKernels& kernels = state.compiler.vector_kernels;
  const bool beside = runs_beside_product(state, op);
  const VectorCosts& costs = kernels.of(beside ? VectorKernel::beside_product : VectorKernel::alone);
  const bool fused = beside && kernels.fuses_into_products;
  const DType dtype = state.tensor(op.output).dtype;
  OperationWork work;
  (fused ? work.fused_forward : work.vector_forward) =
      vector_work({costs.forward.passes, costs.forward.operands * (read + result) / largest}, largest, dtype);
  (fused ? work.fused_backward : work.vector_backward) =
      vector_work({costs.backward.passes, costs.backward.operands * (2 * read + result) / largest}, largest, dtype);
  return work;
}

}  // namespace shardplan
