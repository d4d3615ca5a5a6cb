#include <algorithm>
#include <models/moe_paths.hpp>
#include <models/programs/edges.hpp>
#include <models/programs/layers/batch_split_layers.hpp>
#include <models/programs/layers/multi_token_prediction.hpp>
#include <models/programs/train_program.hpp>
#include <models/programs/weight_schedule.hpp>
#include <shardplan/error.hpp>
#include <shardplan/step_counts.hpp>

namespace shardplan {
namespace {

/// A stage runs its share of these layers, 1/(stages·repeats) of them, in each iteration.
std::int64_t runs_of(const LayerKind& kind, bool pipelined, const PipelineShape& pipeline) {
  return pipelined ? pipeline.iterations() * kind.count / (pipeline.stages * pipeline.repeats) : kind.count;
}

void add_layers(Program& program, const Decoder& decoder, const TrainConfig& config, const ParallelShape& shape) {
  const ProgramSizes whole{program.batch, program.sequence, shape.expert_group, shape.two_fsdp_axes};
  ProgramSizes microbatch = whole;
  microbatch.batch = program.batch / program.pipeline.microbatches;
  const bool far = config.scan_layers && std::any_of(decoder.layers.begin(), decoder.layers.end(),
                                                      [](const LayerKind& kind) { return kind.unscanned; });
  const bool parted = decoder.model.mtp_num_layers > 0 && shape.habits.has(Habit::parts_single_layer_scans);
  for (const auto& kind : decoder.layers) {
    const bool pipelined = shape.stages > 1 && !kind.before_pipeline;
    Block block = layer_block(kind, decoder.model, config, pipelined ? microbatch : whole);
    block.in_pipeline = pipelined;
    // A scan of one layer is no loop: the compiler merges the recomputation with the first run, unless whole layers
    // that are written out lie between the two. A mixture's it doesn't on several devices: it gathers all weights again in
    // gptoss20bx2_h100x8_fsdp8_full_notriton, and runs again in four programs of deepseek2-16b with one layer of experts.
    block.beside_scan = kind.unscanned && config.scan_layers;
    const bool comes_alone = config.scan_layers && !far && kind.count == 1 && !(block.mixture && shape.devices > 1);
    if (shape.habits.has(Habit::merges_single_layer_scan) && comes_alone)
      block.single_run = parted ? SingleRun::parted : SingleRun::merged;
    block.rematerialized = !block.beside_scan && block.single_run == SingleRun::no;
    block.executions = runs_of(kind, pipelined, program.pipeline);
    program.blocks.push_back(std::move(block));
  }
}

Program program_of(StepKind step, const Decoder& decoder, const TrainConfig& config, const ParallelShape& shape) {
  Program program;
  program.step = step;
  program.pipeline = pipeline_shape(decoder.model, config, shape.stages);
  program.batch = global_batch(config, shape.devices);
  program.sequence = config.max_target_length;
  program.embed = decoder.model.emb;
  const ProgramSizes sizes{program.batch, program.sequence, shape.expert_group, shape.two_fsdp_axes};
  program.blocks.reserve(decoder.layers.size() + 3);  // as a rule
  program.blocks.push_back(embedding_block(decoder.model, config, sizes));
  if (decoder.model.decoder_block.lends_keys && decoder.model.per_layer_dim > 0)
    program.blocks.push_back(per_layer_embedding_block(decoder.model, config, sizes));
  add_layers(program, decoder, config, shape);
  if (step == StepKind::train)
    for (Block& block : multi_token_prediction_blocks(decoder.layers, decoder.model, config, sizes))
      program.blocks.push_back(std::move(block));
  program.blocks.push_back(step == StepKind::train ? loss_block(decoder.model, config, sizes)
                                                   : logits_block(decoder.model, config, sizes));
  return program;
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
  shape.forwarding_delay = forwarding_delay(filled);
  return shape;
}

Decoder decoder_of(const Model& model) {
  if (!model.not_modelled.empty())
    throw InputError("model '" + model.name + "' can't be planned yet: " + model.not_modelled + " is not modelled");
  return {model, layer_kinds(model)};
}

Program train_program(const Decoder& decoder, const TrainConfig& config, const ParallelShape& shape) {
  Program program = program_of(StepKind::train, decoder, config, shape);
  for (auto& block : program.blocks) block.executions *= config.gradient_accumulation_steps;
  schedule_weights(program, config, shape.habits);
  return program;
}

Program train_program(const Model& model, const TrainConfig& config, const ParallelShape& shape) {
  return train_program(decoder_of(model), config, shape);
}

Program forward_program(const Decoder& decoder, const TrainConfig& config, const ParallelShape& shape) {
  Program program = program_of(StepKind::forward, decoder, config, shape);
  for (auto& block : program.blocks) block.rematerialized = false;
  schedule_weights(program, config, shape.habits);
  return program;
}

Program reference_program(const Model& model, std::int64_t sequence) {
  TrainConfig config;
  config.per_device_batch_size = model.use_batch_split_schedule ? batch_split_factor : 1;
  config.max_target_length = sequence;
  config.moe_path = usual_path(model);
  return train_program(model, config, {});
}

}  // namespace shardplan
