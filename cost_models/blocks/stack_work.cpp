#include <cost_models/blocks/stack_work.hpp>
#include <cost_models/layouts/stacked_layers.hpp>

namespace shardplan {
namespace {

double local_count(const BlockState& state, TensorId id) {
  return static_cast<double>(local_elements(state.tensor(id).dims, state.spec(id), state.mesh));
}

/// `elements` of a parameter; a matrix's stack has the layers' dim second to last.
void add_parameter(OperationWork& work, const BlockState& state, double elements, bool matrix_in_stack) {
  const VectorKernels& kernels = state.compiler.vector_kernels;
  const VectorCosts& use = kernels.of(VectorKernel::weight_use);
  work.vector_forward += vector_work(use.forward, elements, state.config.weight_dtype);
  work.vector_backward += vector_work(use.backward, elements, state.config.weight_dtype);
  const auto add_gradient = [&](VectorKernel kernel) {
    work.vector_backward += vector_work(kernels.of(kernel).backward, elements, state.config.grad_dtype);
  };
  add_gradient(VectorKernel::weight_gradient);
  if (matrix_in_stack) add_gradient(VectorKernel::matrix_gradient);
}

}  // namespace

OperationWork stack_work(const BlockState& state, const std::vector<TensorId>& saved) {
  OperationWork work;
  const VectorCost& writing = state.compiler.vector_kernels.of(VectorKernel::saved_value).forward;
  for (const TensorId id : saved)
    work.vector_forward += vector_work(writing, local_count(state, id), state.tensor(id).dtype);
  const double copies = static_cast<double>(layers_on_device(state.block, state.program.program->pipeline));
  const double runs = state.block.in_pipeline ? copies / static_cast<double>(state.block.executions) : 1;
  for (std::size_t i = 0; i < state.block.tensors.size(); ++i) {
    const Tensor& tensor = state.block.tensors[i];
    if (tensor.parameter && !tensor.shared)
      add_parameter(work, state, local_count(state, static_cast<TensorId>(i)) * runs, tensor.dims.size() == 2 && copies > 1);
  }
  return work;
}

}  // namespace shardplan
