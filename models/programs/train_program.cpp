#include <models/programs/edges.hpp>
#include <models/programs/train_program.hpp>
#include <shardplan/error.hpp>
#include <shardplan/step_counts.hpp>

namespace shardplan {
namespace {

/// One kind of layer of a stack: its feed-forward, its attention window and how many of it there are.
struct LayerKind {
  std::string name;
  FeedForward feed_forward;
  std::int64_t window;
  std::int64_t count;
  std::int64_t per_cycle = 1;  ///< layers of this kind in one iteration of the scan
  bool continues_cycle = false;
};

std::vector<LayerKind> with_windows(const Model& model, LayerKind kind) {
  const auto& pattern = model.attention_pattern;
  if (kind.count == 0) return {};
  if (pattern.window <= 0) return {kind};
  const std::int64_t period = pattern.locals_per_period + 1;
  const std::int64_t globals = kind.count / period;
  return {{kind.name + "_local", kind.feed_forward, pattern.window, kind.count - globals, pattern.locals_per_period},
          {kind.name + "_global", kind.feed_forward, 0, globals, 1, kind.count > globals}};
}

/// The stacks in order: deepseek's first dense layers, then the rest; layers of different windows are counted apart.
std::vector<LayerKind> layer_kinds(const Model& model) {
  const bool mixed = model.moe_layers() > 0 && model.dense_layers() > 0;
  std::vector<LayerKind> kinds;
  const std::int64_t sublayers = model.sublayers_per_layer;
  for (const auto& kind : with_windows(
           model, {mixed ? "dense_layers" : "layers", FeedForward::dense, 0, model.dense_layers() * sublayers}))
    kinds.push_back(kind);
  for (const auto& kind :
       with_windows(model, {mixed ? "moe_layers" : "layers", FeedForward::experts, 0, model.moe_layers() * sublayers}))
    kinds.push_back(kind);
  std::erase_if(kinds, [](const LayerKind& kind) { return kind.count == 0; });
  return kinds;
}

TensorId add_feed_forward(BlockBuilder& b, TensorId x, FeedForward kind) {
  b.module = kind == FeedForward::dense ? Module::mlp : Module::mixture;
  if (kind == FeedForward::dense) return add_mlp(b, x, "mlp", b.model.mlp);
  const TensorId routed = b.config.moe_path == MoePath::dropping ? add_moe_dropping(b, x) : add_moe_sparse(b, x);
  if (b.model.shared_experts == 0) return routed;
  b.module = Module::shared_experts;
  const TensorId shared = add_mlp(b, x, "shared_experts", b.model.shared_experts * b.model.moe_mlp);
  return b.apply(OpKind::add, "shared_experts/add", {routed, shared},
                 b.activation("mixture output", b.hidden_dims(), b.hidden()));
}

TensorId add_residual(BlockBuilder& b, const std::string& name, TensorId x, TensorId branch) {
  return b.apply(OpKind::add, name, {x, branch}, b.activation(name, b.hidden_dims(), b.hidden()));
}

Block layer_block(const LayerKind& kind, const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  BlockBuilder b(kind.name, BlockKind::layer, model, config, sizes);
  const TensorId x = b.activation("layer input", b.hidden_dims(), b.hidden());
  const TensorId normed = b.norm("pre_self_attention_layer_norm", x, b.hidden());
  b.module = Module::attention;
  TensorId attention =
      model.attention_type == AttentionType::mla ? add_mla(b, normed) : add_gqa(b, normed, kind.window);
  b.module = Module::none;
  if (model.use_post_attn_norm) attention = b.norm("post_self_attention_norm", attention, b.hidden());
  const TensorId middle = add_residual(b, "residual after attention", x, attention);
  const TensorId normed_middle = b.norm("post_self_attention_layer_norm", middle, b.hidden());
  TensorId feed_forward = add_feed_forward(b, normed_middle, kind.feed_forward);
  b.module = Module::none;
  if (model.use_post_ffw_norm) feed_forward = b.norm("post_ffw_norm", feed_forward, b.hidden());
  b.block.input = x;
  b.block.output = add_residual(b, "layer output", middle, feed_forward);
  b.block.mixture = kind.feed_forward == FeedForward::experts;
  b.block.experts_per_token = b.block.mixture ? model.top_k : 0;
  b.block.layers = kind.count;
  if (config.scan_layers) {
    b.block.layers_per_cycle = kind.per_cycle;
    b.block.continues_cycle = kind.continues_cycle;
  }
  // A scan of one layer is no loop: the compiler merges the recomputation with the first run (recorded: deepseek2-16b).
  b.block.rematerialized = !(config.scan_layers && kind.count == 1);
  return std::move(b.block);
}

/// Weights follow the body, with three exceptions: those outside the layer scan are gathered once, before the loop of
/// gradient accumulation or vocabulary tiles (and stay with vocab_tiling_ag_once); pipeline_fsdp_ag_once gathers a
/// stage's weights once a step and reduces their gradients once; pipeline_fsdp_ag_per_repeat once a repeat
/// (SHARDING.md 2.6, 3.1). XLA moves an all-reduce of what a pipeline's iterations add up behind the last (recorded for
/// data, with and without fsdp, whose reduce-scatters stay). In explicit mode a pipeline's weights are always gathered
/// once and their gradients always summed in every iteration (recorded, of MaxText e591f30cb repaired so that it
/// traces).
WeightSchedule weight_schedule(const Block& block, const PipelineShape& pipeline, const TrainConfig& config) {
  if (block.kind != BlockKind::layer)
    return {1, config.vocab_tiling_ag_once ? 0 : 1, block.executions, block.executions};
  const std::int64_t on_stage =
      (block.layers + pipeline.stages - 1) / pipeline.stages * config.gradient_accumulation_steps;
  if (block.in_pipeline && config.shard_mode_explicit && !config.pipeline_fsdp_ag_per_repeat)
    return {on_stage, 0, block.executions, block.executions};
  if (block.in_pipeline && config.pipeline_fsdp_ag_once) return {on_stage, 0, on_stage, on_stage};
  if (block.in_pipeline && config.pipeline_fsdp_ag_per_repeat) return {on_stage, on_stage, on_stage, on_stage};
  const std::int64_t each = block.executions;
  return {each, each, each, block.in_pipeline ? on_stage : each};
}

/// Layers of one scan iteration are recomputed together. When the last has run backward, the weights that the others
/// were recomputed with are gone: they are gathered once more (recorded: gemma2, one local and one global layer).
void gather_again_in_cycles(std::vector<Block>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    if (block.kind != BlockKind::layer || !block.rematerialized || block.weights.backward_gathers == 0) continue;
    const bool is_last = i + 1 == blocks.size() || !blocks[i + 1].continues_cycle;
    const std::int64_t again = is_last ? block.layers_per_cycle - 1 : block.layers_per_cycle;
    block.weights.backward_gathers += block.weights.backward_gathers / block.layers_per_cycle * again;
  }
}

}  // namespace

PipelineShape pipeline_shape(const Model& model, const TrainConfig& config, std::int64_t stages) {
  PipelineShape shape;
  if (stages <= 1) return shape;
  const TrainConfig filled = with_pipeline_counts(config, model, stages);
  shape.stages = stages;
  shape.layers_per_stage = filled.num_layers_per_pipeline_stage;
  shape.repeats = filled.num_pipeline_repeats > 0
                      ? filled.num_pipeline_repeats
                      : std::max<std::int64_t>(1, filled.pipeline_parallel_layers / (stages * shape.layers_per_stage));
  shape.microbatches = filled.num_pipeline_microbatches;
  shape.forwarding_delay = filled.pipeline_delay_activation_forwarding ? 2 : 1;
  return shape;
}

Program train_program(const Model& model, const TrainConfig& config, const ParallelShape& shape) {
  if (!model.not_modelled.empty())
    throw InputError("model '" + model.name + "' can't be planned yet: " + model.not_modelled + " is not modelled");
  Program program;
  program.pipeline = pipeline_shape(model, config, shape.stages);
  program.batch = global_batch(config, shape.devices);
  program.sequence = config.max_target_length;
  program.embed = model.emb;

  ProgramSizes sizes{program.batch, program.sequence, shape.expert_group};
  ProgramSizes microbatch = sizes;
  microbatch.batch = program.batch / program.pipeline.microbatches;

  program.blocks.push_back(embedding_block(model, config, sizes));
  for (const auto& kind : layer_kinds(model)) {
    const bool first_dense = model.moe_layers() > 0 && kind.feed_forward == FeedForward::dense;
    const bool pipelined = shape.stages > 1 && !first_dense;
    Block block = layer_block(kind, model, config, pipelined ? microbatch : sizes);
    block.in_pipeline = pipelined;
    // A stage runs its share of these layers, 1/(stages·repeats) of them, in each iteration.
    block.executions =
        pipelined ? program.pipeline.iterations() * kind.count / (program.pipeline.stages * program.pipeline.repeats)
                  : kind.count;
    program.blocks.push_back(std::move(block));
  }
  program.blocks.push_back(head_block(model, config, sizes));
  for (auto& block : program.blocks) {
    block.executions *= config.gradient_accumulation_steps;
    block.weights = weight_schedule(block, program.pipeline, config);
  }
  gather_again_in_cycles(program.blocks);
  return program;
}

}  // namespace shardplan
