#include <algorithm>
#include <cost_models/layouts/held_experts.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/stacked_weights.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>

namespace shardplan {
namespace {

bool gathers_once(const Block& block, const TrainConfig& config) {
  return block.in_pipeline && config.pipeline_fsdp_ag_once;
}

template <class ElementsOf>
std::int64_t sum_over_weights(const PartitionedBlock& block, const BoundProgram& program, ElementsOf elements_of) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < block.specs().size(); ++i)
    if (block.block->tensors[i].parameter) total += elements_of(block.block->tensors[i], block.specs()[i]);
  return total * layers_on_device(*block.block, program.program->pipeline);
}

std::int64_t elements_without_fsdp(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh) {
  return local_elements(weight.dims, without_axes(spec, mesh.axes_of(AxisFamily::fsdp)), mesh);
}

bool has_split_dim(const PartitionSpec& spec, std::size_t from) {
  return std::any_of(spec.dims.begin() + static_cast<std::ptrdiff_t>(from), spec.dims.end(),
                     [](const AxisList& axes) { return !axes.empty(); });
}

bool gathers(const Collective& c, TensorId weight, const PartitionedBlock& block) {
  return c.kind == CollectiveKind::all_gather && c.parameter && c.tensor >= 0 && block.flow().origin(c.tensor) == weight;
}

bool is_gathered(TensorId weight, const PartitionedBlock& block) {
  return std::any_of(block.collectives.begin(), block.collectives.end(),
                     [&](const Collective& c) { return gathers(c, weight, block); });
}

/// Whether a dim behind the second is made whole.
bool is_gathered_behind(TensorId weight, const PartitionedBlock& block) {
  AxisList behind;
  const PartitionSpec& spec = block.specs()[weight];
  for (std::size_t dim = 2; dim < spec.dims.size(); ++dim) behind.append(spec.dims[dim]);
  return std::any_of(block.collectives.begin(), block.collectives.end(), [&](const Collective& c) {
    return gathers(c, weight, block) && !common(behind, c.axes).empty();
  });
}

/// XLA:GPU wants each layer's slice contiguous where it is gathered, the dim that it gathers first, and where a product runs
/// once for each expert (deepseek216bx6_h100x8_data8_dm_epasdp_save_dot_except_mlp); other products read it as it lies, and
/// those of ragged rows (h100c_qw30_ep8_sparse). MaxText stores a scanned weight [first dim, layers, …]: copied unless the
/// first dim is 1 on the device, and the dim behind the layers is gathered if any is (plan_mixtral8x22b_h100_32: wo
/// [1, 56, 16384, 1536] is, which gathers the last; wi_0 isn't). In a pipeline it is [layers, stages, first dim, …]:
/// copied where a later dim is split.
bool is_transposed(TensorId id, const PartitionedBlock& block, const Mesh& mesh, MoePath path) {
  const Tensor& weight = block.block->tensors[id];
  const PartitionSpec& spec = block.specs()[id];
  if (weight.dims.empty()) return false;
  if (block.block->in_pipeline) return has_split_dim(spec, 1);
  const bool in_batched_product = weight.dims.front().dim == Dim::experts && path == MoePath::dropping;
  if (weight.dims.front().size <= mesh.product(spec.dims.front())) return is_gathered_behind(id, block);
  return weight.dims.front().size > mesh.product(spec.dims.front()) && (is_gathered(id, block) || in_batched_product);
}

std::int64_t transposed_elements(const PartitionedBlock& block, const BoundProgram& program, MoePath path) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (block.block->tensors[i].parameter && is_transposed(id, block, *program.mesh, path))
      total += local_elements(block.block->tensors[i].dims, block.specs()[i], *program.mesh);
  }
  return total * layers_on_device(*block.block, program.program->pipeline);
}

/// Habit::makes_stacks_layer_major. Queries, keys and values are turned in the loop, whichever way they lie.
std::int64_t elements_apart(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  const PipelineShape& pipeline = program.program->pipeline;
  const std::int64_t in_an_array = layers_in_an_array(*block.block, pipeline, config);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    const Tensor& weight = block.block->tensors[i];
    if (!weight.parameter || weight.dims.size() < 2 || is_of_heads(weight)) continue;
    if (!lies_layer_major(weight, block.specs()[i], *program.mesh, in_an_array)) total += block.stored()[i];
  }
  return total * layers_on_device(*block.block, pipeline);
}

/// In a pipeline, whose layers' weights lie each by itself, two of an expert's three are copied, of all layers of a stage
/// but one, where a device has several experts (mixtral8x7bx8_h100x8_pp2ep4_fix_full_notriton, of 12 six;
/// plan_qwen3235ba22b_h100_64, of 141 92; ragged products that multiply with each expert,
/// mixtral8x7bx8_h100x8_pp2ep4_sparse_full_notriton).
std::int64_t elements_turned_in_stage(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                                      const Compiler& compiler) {
  const bool dense = config.moe_path == MoePath::dropping || is_ragged_dot_dense(compiler, config);
  if (!block.block->in_pipeline || !dense) return 0;
  std::int64_t most = 0, all = 0;
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    const Tensor& weight = block.block->tensors[i];
    if (!weight.parameter || weight.dims.empty() || weight.dims.front().dim != Dim::experts) continue;
    const PartitionSpec& spec = block.specs()[i];
    const bool has_one = weight.dims.front().size <= program.mesh->product(spec.dims.front());
    if (has_one || has_split_dim(spec, 1)) continue;
    const std::int64_t elements = local_elements(weight.dims, spec, *program.mesh);
    most = std::max(most, elements);
    all += elements;
  }
  return (all - most) * (layers_on_device(*block.block, program.program->pipeline) - 1);
}

}  // namespace

std::int64_t gathered_elements(const PartitionedBlock& block, const BoundProgram& program) {
  return sum_over_weights(block, program, [&](const Tensor& weight, const PartitionSpec& spec) {
    return elements_without_fsdp(weight, spec, *program.mesh);
  });
}

std::int64_t resident_elements(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  if (gathers_once(*block.block, config)) return gathered_elements(block, program);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < block.specs().size(); ++i)
    if (block.block->tensors[i].parameter) total += block.stored()[i];
  return total * layers_on_device(*block.block, program.program->pipeline);
}

namespace {

/// Where shards are exchanged before they are gathered the loop reads the stack as it came back: repeats that the stages
/// don't divide are padded still, and each iteration cuts the others out (llama27bx8_7x8_pp4fsdp2_once,
/// llama27bx8_7x16_pp4fsdp4_once; not with four repeats of two stages, llama27bx8_7x8_pp2fsdp4_once).
std::int64_t read_elements(std::int64_t resident, const Block& block, const BoundProgram& program,
                           const TrainConfig& config, const Compiler& compiler) {
  const PipelineShape& pipeline = program.program->pipeline;
  const bool moves = block.in_pipeline && moves_layer_stack(pipeline, config);
  if (!moves || !compiler.has(Habit::permutes_before_gathers)) return resident;
  const std::int64_t padded = elements_on_repeats(resident, pipeline);
  return padded > resident ? padded + resident : resident;
}

/// Of experts that are held elements on a device: gathered, and the shards of them.
struct HeldExperts {
  std::int64_t gathered = 0, shards = 0;
};

HeldExperts held_experts(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  HeldExperts held;
  if (!holds_gathered_experts(*block.block, program.program->pipeline, config, compiler)) return held;
  const std::int64_t layers = layers_on_device(*block.block, program.program->pipeline);
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    const Tensor& weight = block.block->tensors[i];
    if (!enters_shard_map(weight, *block.block, config) || !is_gathered(static_cast<TensorId>(i), block)) continue;
    held.gathered += elements_without_fsdp(weight, block.specs()[i], *program.mesh) * layers;
    held.shards += block.stored()[i] * layers;
  }
  return held;
}

/// Of weights that loops read in the dtype in which they are stored.
Bytes uncast_copies(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler) {
  if (config.dtype != config.weight_dtype) return {};  // accumulated passes, which cast once
  if (block.block->in_pipeline) {
    const bool copied = compiler.has(Habit::copies_uncast_stages);
    return Bytes{copied ? resident_elements(block, program, config) * size_of(config.dtype) : 0};
  }
  const bool narrowed = config.dtype == DType::f32 && compiler.has(Habit::narrows_float32_operands);
  return Bytes{elements_apart(block, program, config) * size_of(narrowed ? DType::bf16 : config.dtype)};
}

}  // namespace

Bytes held_in_forward_loop(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                           const Compiler& compiler) {
  if (!gathers_held_experts_again(config, compiler)) return {};
  return Bytes{held_experts(block, program, config, compiler).gathered * size_of(config.dtype)};
}

Bytes stacked_weight_copies(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                            const Compiler& compiler) {
  const Block& b = *block.block;
  const bool loops = config.scan_layers || b.in_pipeline;
  if (b.kind != BlockKind::layer || !loops || !b.rematerialized) return {};
  const DType stored = accumulation_dtype(config);
  const bool casts = compiler.has(Habit::moves_stacks_in_compute_dtype) && config.dtype != stored;
  const std::int64_t element = size_of(casts ? config.dtype : stored);
  const bool twice = compiler.has(Habit::casts_repeats_twice) && b.in_pipeline && config.pipeline_fsdp_ag_per_repeat;
  const std::int64_t copies = twice ? 2 : 1;
  const bool explicit_pipeline = b.in_pipeline && config.shard_mode_explicit && !config.pipeline_fsdp_ag_per_repeat;
  if (explicit_pipeline) return Bytes{gathered_elements(block, program) * element};
  const HeldExperts experts = held_experts(block, program, config, compiler);
  const bool in_forward_loop = gathers_held_experts_again(config, compiler);
  const Bytes held{in_forward_loop ? 0 : experts.gathered * size_of(config.dtype)};
  if (casts || gathers_once(b, config)) {
    const std::int64_t resident = resident_elements(block, program, config);
    return Bytes{(read_elements(resident, b, program, config, compiler) - experts.shards) * element * copies} + held;
  }
  if (compiler.has(Habit::makes_stacks_layer_major)) return uncast_copies(block, program, config, compiler) + held;
  if (!compiler.has(Habit::copies_stacked_parameters)) return held;
  const std::int64_t turned = elements_turned_in_stage(block, program, config, compiler);
  return Bytes{(transposed_elements(block, program, config.moe_path) + turned) * element};
}

}  // namespace shardplan
