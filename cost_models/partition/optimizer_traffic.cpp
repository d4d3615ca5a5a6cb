#include <algorithm>
#include <cost_models/partition/optimizer_traffic.hpp>
#include <cost_models/partition/recorder.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t newton_schulz_steps = 5;  // optax.contrib.muon ns_steps, as MaxText uses it

template <class RecordParameter>
std::vector<Collective> over_parameters(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                        RecordParameter record) {
  std::vector<Collective> all;
  for (const auto& block : blocks) {
    Recorder recorder(*block.block, *program.mesh);
    for (std::size_t i = 0; i < block.specs.size(); ++i)
      if (block.block->tensors[i].parameter) record(recorder, block, i);
    const auto collectives = recorder.take();
    all.insert(all.end(), collectives.begin(), collectives.end());
  }
  return all;
}

std::int64_t layers_held(const Block& block, const PipelineShape& pipeline) {
  return block.in_pipeline ? block.layers / pipeline.stages : block.layers;
}

/// The first dim whose shard the data axis divides and that tensor doesn't split; a stack of layers offers its repeats
/// dim first. -1: the repeats; -2: none.
int zero1_dim(const PartitionedBlock& block, std::size_t i, const BoundProgram& program, std::int64_t data) {
  const PipelineShape& pipeline = program.program->pipeline;
  if (block.block->in_pipeline && pipeline.repeats > 1 && pipeline.repeats % data == 0) return -1;
  const auto tensor_axis = program.mesh->find("tensor");
  const auto& dims = block.block->tensors[i].dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const AxisList& axes = block.specs[i].dims[d];
    if (tensor_axis && contains(axes, *tensor_axis)) continue;
    if (dims[d].size / program.mesh->product(axes) % data == 0) return static_cast<int>(d);
  }
  return -2;
}

/// Dims of the matrix that Newton-Schulz works on: attention kernels join heads and head_dim; experts are a batch.
struct Matrix {
  std::int64_t rows = 1, columns = 1, batch = 1;
  AxisList split;  ///< axes on rows or columns
};

bool belongs_to_rows(const Tensor& tensor, std::size_t d) {
  const bool output_projection =
      tensor.dims.back().dim == Dim::embed && tensor.dims.size() == 3 && tensor.dims.front().dim != Dim::experts;
  if (output_projection) return d + 1 < tensor.dims.size();
  return d == (tensor.dims.front().dim == Dim::experts ? 1U : 0U);
}

Matrix matrix_of(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh) {
  Matrix matrix;
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
    if (d == 0 && tensor.dims[d].dim == Dim::experts && tensor.dims.size() == 3) {
      matrix.batch = tensor.dims[d].size / mesh.product(spec.dims[d]);
      continue;
    }
    (belongs_to_rows(tensor, d) ? matrix.rows : matrix.columns) *= tensor.dims[d].size;
    matrix.split.insert(matrix.split.end(), spec.dims[d].begin(), spec.dims[d].end());
  }
  std::sort(matrix.split.begin(), matrix.split.end());
  return matrix;
}

}  // namespace

std::vector<Collective> zero1_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                      const TrainConfig& config) {
  const auto data = program.mesh->find("data");
  if (!config.shard_optimizer_over_data || !data || program.mesh->size(*data) == 1) return {};
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    const std::int64_t shards = program.mesh->size(*data);
    const int dim = zero1_dim(block, i, program, shards);
    if (dim == -2) return;
    const std::int64_t bytes = local_elements(weight.dims, block.specs[i], *program.mesh) *
                               layers_held(*block.block, program.program->pipeline) * size_of(config.weight_dtype);
    const bool joined = dim >= 0 && !block.specs[i].dims[dim].empty();
    if (joined) {
      AxisList axes = block.specs[i].dims[dim];
      axes.push_back(*data);
      std::sort(axes.begin(), axes.end());
      recorder.record(Phase::optimizer, {CollectiveKind::collective_permute, axes, Bytes{bytes / shards}, true},
                      "zero1/" + weight.name,
                      "data comes before the axes that already split the dim, so shards change places", 1);
    }
    recorder.record(Phase::optimizer, {CollectiveKind::all_gather, {*data}, Bytes{bytes}, true}, "zero1/" + weight.name,
                    "each data shard of the optimizer updates its part of the weight; the parts are gathered", 1);
  });
}

std::vector<Collective> muon_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                     const TrainConfig& config) {
  if (config.opt_type != OptimizerType::muon) return {};
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    if (block.block->kind != BlockKind::layer || weight.dims.size() < 2 || weight.name.ends_with("/bias")) return;
    const Matrix matrix = matrix_of(weight, block.specs[i], *program.mesh);
    const std::int64_t r = std::min(matrix.rows, matrix.columns);
    const std::int64_t bytes =
        layers_held(*block.block, program.program->pipeline) * matrix.batch * r * r * size_of(DType::f32);
    recorder.record(Phase::optimizer, {CollectiveKind::all_reduce, matrix.split, Bytes{bytes}, true},
                    "muon/" + weight.name,
                    "Newton-Schulz contracts over a matrix dim that is split: each step sums its Gram matrices",
                    newton_schulz_steps);
  });
}

}  // namespace shardplan
