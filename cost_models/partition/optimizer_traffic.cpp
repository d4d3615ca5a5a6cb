#include <algorithm>
#include <cost_models/partition/optimizer_layout.hpp>
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

/// train_compile gathers updated weights. The training loop gathers them at the start: for gradient accumulation after
/// a cast; NNX keeps what it gathers for the update, so as stored; Linen keeps the shards for that, and XLA:TPU casts
/// what moves.
DType gathered_dtype(const BoundProgram& program, const TrainConfig& config, const CompilerHabits& habits) {
  if (config.program == StepProgram::train_compile) return config.weight_dtype;
  if (config.gradient_accumulation_steps > 1) return accumulation_dtype(*program.mesh, config);
  return config.pure_nnx || !habits.moves_stacks_in_compute_dtype ? config.weight_dtype : config.dtype;
}

}  // namespace

std::vector<Collective> zero1_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                      const TrainConfig& config, const CompilerHabits& habits) {
  const auto data = zero1_axis(*program.mesh, config);
  if (!data) return {};
  const std::int64_t element = size_of(gathered_dtype(program, config, habits));
  const char* why = config.program == StepProgram::train
                        ? "between steps each device keeps a data shard of the weight: it is gathered for the step"
                        : "each data shard of the optimizer updates its part of the weight; the parts are gathered";
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    const auto layout = optimizer_layout(weight, block.specs[i], *block.block, program.program->pipeline, *program.mesh, config);
    if (layout.shards == 1) return;
    const std::int64_t bytes = local_elements(weight.dims, block.specs[i], *program.mesh) *
                               layers_held(*block.block, program.program->pipeline) * element;
    if (!layout.joined.empty()) {
      AxisList axes = layout.joined;
      axes.push_back(*data);
      std::sort(axes.begin(), axes.end());
      recorder.record(Phase::optimizer, {CollectiveKind::collective_permute, axes, Bytes{bytes / layout.shards}, true},
                      "zero1/" + weight.name,
                      "data comes before the axes that already split the dim, so shards change places", 1);
    }
    recorder.record(Phase::optimizer, {CollectiveKind::all_gather, {*data}, Bytes{bytes}, true}, "zero1/" + weight.name,
                    why, 1);
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
