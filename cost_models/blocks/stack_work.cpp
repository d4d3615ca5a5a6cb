#include <algorithm>
#include <cost_models/blocks/stack_work.hpp>
#include <cost_models/layouts/stacked_layers.hpp>

namespace shardplan {
namespace {

/// `elements` of a parameter; in rows of layers: a matrix whose stack has the layers' dim second to last, and not first.
void add_parameter(OperationWork& work, const TrainConfig& config, const VectorKernels& kernels, double elements,
                   bool in_rows_of_layers) {
  const VectorCosts& use = kernels.of(VectorKernel::weight_use);
  work.vector_forward += vector_work(use.forward, elements, config.weight_dtype);
  work.vector_backward += vector_work(use.backward, elements, config.weight_dtype);
  const auto add_gradient = [&](VectorKernel kernel) {
    work.vector_backward += vector_work(kernels.of(kernel).backward, elements, config.grad_dtype);
  };
  add_gradient(VectorKernel::weight_gradient);
  if (in_rows_of_layers) add_gradient(VectorKernel::matrix_gradient);
}

/// By a product or an attention kernel, which need it by itself; elementwise work reads it in the stack.
bool is_read_whole(TensorId tensor, const PartitionedBlock& block) {
  const auto readers = block.flow().readers(tensor);
  return std::any_of(readers.begin(), readers.end(), [&](OperationId id) {
    const Operation& op = block.block->operations[id];
    if (op.kind == OpKind::constrain) return is_read_whole(op.output, block);
    return op.kind == OpKind::einsum || op.kind == OpKind::attention;
  });
}

}  // namespace

OperationWork stack_work(const PartitionedBlock& partitioned, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  const Block& block = *partitioned.block;
  const VectorKernels& kernels = compiler.vector_kernels;
  const auto local_count = [&](TensorId id) {
    return static_cast<double>(local_elements(block.tensors[id].dims, partitioned.specs()[id], *program.mesh));
  };
  OperationWork work;
  const VectorCosts& saved = kernels.of(VectorKernel::saved_value);
  for (const TensorId id : partitioned.liveness.saved) {
    work.vector_forward += vector_work(saved.forward, local_count(id), block.tensors[id].dtype);
    if (is_read_whole(id, partitioned))
      work.vector_backward += vector_work(saved.backward, local_count(id), block.tensors[id].dtype);
  }
  const double copies = static_cast<double>(layers_on_device(block, program.program->pipeline));
  // A pipeline that gathers in every iteration casts before it, and adds to the gradients' stack behind it:
  // h100_ll7_pp2fsdp4 does 129 times where a device has 16 layers (loop_convert_fusion, loop_add_fusion). XLA:TPU casts
  // the stack.
  const bool once = config.pipeline_fsdp_ag_once || compiler.has(Habit::moves_stacks_in_compute_dtype);
  const double runs = block.in_pipeline && once ? copies / static_cast<double>(block.executions) : 1;
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    const Tensor& tensor = block.tensors[i];
    if (!tensor.parameter || tensor.shared) continue;
    const double elements = local_count(static_cast<TensorId>(i)) * runs;
    const bool in_rows_of_layers = config.param_scan_axis == 1 && tensor.dims.size() == 2 && copies > 1;
    add_parameter(work, config, kernels, elements, in_rows_of_layers);
  }
  return program.program->step == StepKind::train ? work : forward_of(std::move(work));
}

}  // namespace shardplan
