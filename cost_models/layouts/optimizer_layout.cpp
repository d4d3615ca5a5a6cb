#include <algorithm>
#include <cost_models/layouts/optimizer_layout.hpp>

namespace shardplan {

std::optional<AxisId> zero1_axis(const Mesh& mesh, const TrainConfig& config) {
  if (!config.shard_optimizer_over_data) return std::nullopt;
  const auto data = mesh.find(AxisRole::data);
  return data && mesh.size(*data) > 1 ? data : std::nullopt;
}

namespace {

/// Iterations of the scan whose weights lie in one array; 1 where there is no such dim.
std::int64_t stacked_iterations(const Block& block, const TrainConfig& config) {
  const bool stacked = block.kind == BlockKind::layer && config.scan_layers && !block.beside_scan && !block.in_pipeline;
  return stacked ? block.layers / block.layers_per_cycle : 1;
}

/// Whether `shards` divide the dim that the array has behind its first one. No loop over layers can scatter to it.
bool splits_stack(const Block& block, const TrainConfig& config, std::int64_t shards) {
  const std::int64_t iterations = stacked_iterations(block, config);
  return iterations > 1 && iterations % shards == 0;
}

}  // namespace

OptimizerLayout optimizer_layout(const Tensor& weight, const PartitionSpec& spec, const Block& block,
                                 const PipelineShape& pipeline, const Mesh& mesh, const TrainConfig& config) {
  const auto data = zero1_axis(mesh, config);
  if (!data) return {spec, 1, {}};
  const std::int64_t shards = mesh.size(*data);
  if (block.in_pipeline && pipeline.repeats > 1 && pipeline.repeats % shards == 0) return {spec, shards, {}};
  const auto tensor_axis = mesh.find(AxisRole::tensor);
  for (std::size_t d = 0; d < weight.dims.size(); ++d) {
    if (d == 1 && splits_stack(block, config, shards)) return {spec, shards, {}};
    const AxisList& axes = spec.dims[d];
    if (tensor_axis && axes.contains(*tensor_axis)) continue;
    if (weight.dims[d].size / mesh.product(axes) % shards != 0) continue;
    OptimizerLayout layout{spec, shards, axes};
    layout.spec.dims[d].prepend(*data);
    return layout;
  }
  if (weight.dims.size() == 1 && splits_stack(block, config, shards)) return {spec, shards, {}};
  return {spec, 1, {}};
}

namespace {

bool is_read_through_constraint(const Tensor& weight, const Block& block) {
  return std::any_of(block.operations.begin(), block.operations.end(), [&](const Operation& op) {
    return op.kind == OpKind::constrain && &block.tensors[op.inputs.front()] == &weight;
  });
}

bool has_experts(const Tensor& weight) {
  return !weight.dims.empty() && weight.dims.front().dim == Dim::experts;
}

}  // namespace

bool is_constrained(const Tensor& weight, const Block& block, const TrainConfig& config) {
  return config.moe_path == MoePath::dropping && has_experts(weight) && is_read_through_constraint(weight, block);
}

bool enters_shard_map(const Tensor& weight, const Block& block, const TrainConfig& config) {
  const bool sparse = config.moe_path == MoePath::ragged || config.moe_path == MoePath::ring;
  return sparse && has_experts(weight) && !block.own_backward && is_read_through_constraint(weight, block);
}

PartitionSpec gradient_spec(const Tensor& weight, const PartitionSpec& spec, const Block& block,
                            const BoundProgram& program, const TrainConfig& config) {
  if (block.in_pipeline || config.gradient_accumulation_steps > 1 || config.shard_mode_explicit) return spec;
  if (!zero1_axis(*program.mesh, config)) return spec;
  OptimizerLayout layout = optimizer_layout(weight, spec, block, program.program->pipeline, *program.mesh, config);
  return !layout.joined.empty() && is_constrained(weight, block, config) ? spec : std::move(layout.spec);
}

bool updates_gathered_weights(const TrainConfig& config) {
  return config.program == StepProgram::train && config.runs_nnx() && config.gradient_accumulation_steps == 1;
}

DType accumulation_dtype(const TrainConfig& config) {
  const bool casts = config.shard_optimizer_over_data && config.gradient_accumulation_steps > 1;
  return casts && config.weight_dtype == DType::f32 ? DType::bf16 : config.weight_dtype;
}

DType gathered_dtype(const OptimizerLayout& layout, const TrainConfig& config, const Compiler& compiler) {
  if (config.program == StepProgram::train_compile) return config.weight_dtype;
  if (config.gradient_accumulation_steps > 1) return accumulation_dtype(config);
  const bool passes = compiler.has(Habit::lays_out_products_by_size) && layout.joined.empty();
  const bool keeps = config.runs_nnx() && !passes;
  return keeps || !compiler.has(Habit::moves_stacks_in_compute_dtype) ? config.weight_dtype : config.dtype;
}

}  // namespace shardplan
