#include <cost_models/step/muon_matrix.hpp>

namespace shardplan {
namespace {

bool is_of_experts(const Tensor& weight) { return weight.dims.front().dim == Dim::experts && weight.dims.size() == 3; }

/// Reduction dims: the first, after the experts; of an output projection [heads, head_dim, embed] all but the last.
bool is_reduction(const Tensor& weight, std::size_t d) {
  const bool output_projection =
      weight.dims.back().dim == Dim::embed && weight.dims.size() == 3 && !is_of_experts(weight);
  return output_projection ? d + 1 < weight.dims.size() : d == (is_of_experts(weight) ? 1U : 0U);
}

MuonMatrix muon_matrix(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh) {
  MuonMatrix matrix;
  for (std::size_t d = 0; d < weight.dims.size(); ++d) {
    if (d == 0 && is_of_experts(weight)) {
      matrix.batch = weight.dims[d].size / mesh.product(spec.dims[d]);
      continue;
    }
    if (weight.dims[d].dim == Dim::mlp_parts) {  // utils/muon_utils.py: the first against the last, others are batches
      matrix.batch *= weight.dims[d].size;
      continue;
    }
    const bool rows = is_reduction(weight, d);
    (rows ? matrix.kept : matrix.contracted) *= weight.dims[d].size;
    AxisList& axes = rows ? matrix.kept_axes : matrix.contracted_axes;
    axes.append(spec.dims[d]);
  }
  if (matrix.kept > matrix.contracted) {
    std::swap(matrix.kept, matrix.contracted);
    std::swap(matrix.kept_axes, matrix.contracted_axes);
  }
  matrix.kept_axes.sort();
  matrix.contracted_axes.sort();
  return matrix;
}

}  // namespace

bool is_muon_matrix(const Tensor& weight, const Block& block) {
  return block.kind == BlockKind::layer && weight.dims.size() >= 2 && weight.role != TensorRole::bias;
}

DType newton_schulz_dtype(const TrainConfig& config, const Compiler& compiler) {
  return compiler.has(Habit::moves_stacks_in_compute_dtype) ? config.dtype : DType::f32;
}

MuonStack muon_stack(const PartitionedBlock& block, std::size_t weight, const BoundProgram& program) {
  const Tensor& tensor = block.block->tensors[weight];
  MuonStack stack;
  stack.matrix = muon_matrix(tensor, block.specs()[weight], *program.mesh);
  stack.count = layers_on_device(*block.block, program.program->pipeline) * stack.matrix.batch;
  stack.rows = program.mesh->product(stack.matrix.kept_axes);
  stack.columns = program.mesh->product(stack.matrix.contracted_axes);
  stack.of_experts = is_of_experts(tensor);
  return stack;
}

std::vector<MuonStack> muon_stacks(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program) {
  std::vector<MuonStack> stacks;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs().size(); ++i)
      if (const Tensor& weight = block.block->tensors[i]; is_trained(weight) && is_muon_matrix(weight, *block.block))
        stacks.push_back(muon_stack(block, i, program));
  return stacks;
}

std::vector<OperationWork> newton_schulz_products(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                                  const TrainConfig& config, const Compiler& compiler) {
  if (config.opt_type != OptimizerType::muon || program.program->step == StepKind::forward) return {};
  const double size = static_cast<double>(size_of(newton_schulz_dtype(config, compiler)));
  std::vector<OperationWork> products;
  for (const MuonStack& stack : muon_stacks(blocks, program)) {
    const double runs = static_cast<double>(stack.count * newton_schulz_steps);
    const double kept = static_cast<double>(stack.matrix.kept);
    const double own = stack.is_squared_by_rows() ? kept / static_cast<double>(stack.rows) : kept;
    const double contracted = static_cast<double>(stack.matrix.contracted) / static_cast<double>(stack.columns);
    for (const MatrixShape& shape : {MatrixShape{own, kept, contracted}, {own, kept, kept}, {own, contracted, kept}}) {
      OperationWork product;
      product.kind = WorkKind::matmul;
      product.shape = shape;
      product.forward = shape.flops() * runs;
      const double elements = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
      product.forward_traffic = Bytes{static_cast<std::int64_t>(elements * size * runs)};
      products.push_back(product);
    }
  }
  return products;
}

}  // namespace shardplan
