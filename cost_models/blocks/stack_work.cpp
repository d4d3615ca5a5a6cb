#include <cost_models/blocks/stack_work.hpp>
#include <cost_models/layouts/stacked_layers.hpp>

namespace shardplan {
namespace {

/// `elements` of a parameter; a matrix's stack has the layers' dim second to last.
void add_parameter(OperationWork& work, const TrainConfig& config, const VectorKernels& kernels, double elements,
                   bool matrix_in_stack) {
  const VectorCosts& use = kernels.of(VectorKernel::weight_use);
  work.vector_forward += vector_work(use.forward, elements, config.weight_dtype);
  work.vector_backward += vector_work(use.backward, elements, config.weight_dtype);
  const auto add_gradient = [&](VectorKernel kernel) {
    work.vector_backward += vector_work(kernels.of(kernel).backward, elements, config.grad_dtype);
  };
  add_gradient(VectorKernel::weight_gradient);
  if (matrix_in_stack) add_gradient(VectorKernel::matrix_gradient);
}

}  // namespace

OperationWork stack_work(const PartitionedBlock& partitioned, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  const Block& block = *partitioned.block;
  const VectorKernels& kernels = compiler.vector_kernels;
  const auto local_count = [&](TensorId id) {
    return static_cast<double>(local_elements(block.tensors[id].dims, partitioned.specs[id], *program.mesh));
  };
  OperationWork work;
  for (const TensorId id : partitioned.liveness.saved)
    work.vector_forward +=
        vector_work(kernels.of(VectorKernel::saved_value).forward, local_count(id), block.tensors[id].dtype);
  const double copies = static_cast<double>(layers_on_device(block, program.program->pipeline));
  const double runs = block.in_pipeline ? copies / static_cast<double>(block.executions) : 1;
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    const Tensor& tensor = block.tensors[i];
    if (!tensor.parameter || tensor.shared) continue;
    const double elements = local_count(static_cast<TensorId>(i)) * runs;
    add_parameter(work, config, kernels, elements, tensor.dims.size() == 2 && copies > 1);
  }
  return program.program->step == StepKind::train ? work : forward_of(std::move(work));
}

}  // namespace shardplan
