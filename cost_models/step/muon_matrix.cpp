#include <algorithm>
#include <cost_models/step/muon_matrix.hpp>

namespace shardplan {
namespace {

/// Reduction dims: the first, after the experts; of an output projection [heads, head_dim, embed] all but the last.
bool is_reduction(const Tensor& weight, std::size_t d) {
  const bool output_projection =
      weight.dims.back().dim == Dim::embed && weight.dims.size() == 3 && !is_of_experts(weight);
  return output_projection ? d + 1 < weight.dims.size() : d == (is_of_experts(weight) ? 1U : 0U);
}

}  // namespace

bool is_of_experts(const Tensor& weight) { return weight.dims.front().dim == Dim::experts && weight.dims.size() == 3; }

bool is_muon_matrix(const Tensor& weight, const Block& block) {
  return block.kind == BlockKind::layer && weight.dims.size() >= 2 && weight.role != TensorRole::bias;
}

DType newton_schulz_dtype(const TrainConfig& config, const Compiler& compiler) {
  return compiler.has(Habit::moves_stacks_in_compute_dtype) ? config.dtype : DType::f32;
}

MuonMatrix muon_matrix(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh) {
  MuonMatrix matrix;
  for (std::size_t d = 0; d < weight.dims.size(); ++d) {
    if (d == 0 && is_of_experts(weight)) {
      matrix.batch = weight.dims[d].size / mesh.product(spec.dims[d]);
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

}  // namespace shardplan
