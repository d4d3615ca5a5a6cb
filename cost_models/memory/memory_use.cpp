#include <algorithm>
#include <cmath>
#include <cost_models/memory/compiler_budget.hpp>
#include <cost_models/memory/head_order.hpp>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/memory/stacked_weights.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>
#include <shardplan/compiler/schedule_limit.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {

Bytes working_set(const PartitionedBlock& block, int first_step, WeightGradients weight_gradients) {
  int last_step = first_step;
  for (const auto& life : block.lifetimes) last_step = std::max(last_step, life.last);
  std::vector<std::int64_t> change(last_step - first_step + 2, 0);
  for (const auto& life : block.lifetimes) {
    if (life.last < std::max(life.first, first_step)) continue;
    if (weight_gradients == WeightGradients::later && life.unsummed_weight_gradient) continue;
    change[std::max(life.first, first_step) - first_step] += life.bytes.value;
    change[life.last - first_step + 1] -= life.bytes.value;
  }
  std::int64_t now = 0, worst = 0;
  for (const std::int64_t step : change) worst = std::max(worst, now += step);
  return {worst};
}

Bytes waiting_values(const PartitionedBlock& block) {
  Bytes total;
  for (const auto& life : block.lifetimes)
    if (life.first < block.gradients_begin && life.last >= block.gradients_begin && life.last >= block.backward_begins)
      total += life.bytes;
  return total;
}

namespace {

/// Layers that no scan separates (scan_layers=false, several layers of a pipeline stage): the next one's weights are
/// gathered while this one runs (inferred from a program that the compiler refused). A backward pass that is written by
/// hand says so itself, and hands on the gradients of the layer behind as they are before they are scattered (MaxText
/// models/deepseek_batchsplit.py, process_layer_bwd_scannable).
Bytes prefetched_weights(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  if (block.block->own_backward) return block.gathered_weights * 2;
  if (!compiler.has(Habit::prefetches_next_layer)) return {};
  if (block.block->kind != BlockKind::layer || block.block->layers == 1) return {};
  const bool stage = block.block->in_pipeline && program.program->pipeline.layers_per_stage > 1;
  const bool resident = block.block->in_pipeline && config.pipeline_fsdp_ag_once;
  return (stage || !config.scan_layers) && !resident ? block.gathered_weights : Bytes{0};
}

}  // namespace

std::vector<Loop> loops_of(const std::vector<PartitionedBlock>& blocks) {
  std::vector<Loop> loops;
  for (const auto& block : blocks) {
    if (!block.block->continues_cycle || loops.empty()) loops.emplace_back();
    loops.back().push_back(&block);
  }
  return loops;
}

namespace {

/// What a layer's last step reads.
Bytes read_at_the_end(const PartitionedBlock& block) {
  int end = 0;
  for (const auto& life : block.lifetimes) end = std::max(end, life.last);
  Bytes read;
  for (const auto& life : block.lifetimes)
    if (life.last == end && life.first < end && !life.unsummed_weight_gradient) read += life.bytes;
  return read;
}

/// What weight gradients read that run when the backward pass of all layers of an iteration has (recorded on 7x: under
/// tensor parallelism gemma327b_7x128_fsdp64_tensor2_save_dot_with_context_except_mlp; else
/// olmo37bx8_7x16_fsdp16_save_dot_except_mlp, of four layers four rows of the feed-forward each).
Bytes late_operands(const PartitionedBlock& block) {
  const bool shares = !block.block->own_loop;
  if (shares && block.late_gradients_begin == 0 && block.weight_gradients_last) return read_at_the_end(block);
  Bytes total;
  for (const auto& life : block.lifetimes) {
    const bool waits = life.waits_for_iteration && shares && block.block->rematerialized;
    const bool is_late = life.first < block.late_gradients_begin && life.last >= block.late_gradients_begin;
    if (waits || is_late) total += life.bytes;
  }
  return total;
}

Bytes late_operands(const Loop& loop) {
  Bytes total;
  for (const PartitionedBlock* block : loop) total += late_operands(*block) * block->block->layers_per_cycle;
  return total;
}

/// What products that multiply every row with every expert copy for their weight gradients (XLA:GPU's ragged_dot): each
/// input once for each expert of the device.
Bytes copies_for_experts(const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler) {
  const Block& b = *block.block;
  std::vector<TensorId> copied;
  double all = 0;
  for (const Operation& op : b.operations) {
    const TensorId input = op.inputs.front();
    if (!is_ragged_dot(b, op) || std::find(copied.begin(), copied.end(), input) != copied.end()) continue;
    copied.push_back(input);
    const Bytes rows = stored_bytes(b.tensors[input], block.specs()[input], *program.mesh, compiler);
    all += static_cast<double>(rows.value) * local_experts(b, op, program);
  }
  return Bytes{std::llround(all)};
}

/// Of one of the other layers of a pipeline's stage, which no loop separates: what weight gradients read that run when the
/// backward pass of all of them has (recorded: qwen314bx32_7x32_pipeline16_fsdp2_mb16_full, four buffers of [8192, 17408]
/// of each of two layers; experts on the dropping path: plan_qwen3235ba22b_h100_64, of each of 47 layers two of the experts'
/// rows and three of hidden ones, mixtral8x7bx8_7x8_pp2ep4_fix_full).
Bytes left_in_stage(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler) {
  if (block.weight_gradients_last)
    return compiler.has(Habit::runs_weight_gradients_beside_collectives) ? read_at_the_end(block) : Bytes{0};
  if (!block.block->mixture || !compiler.has(Habit::runs_cycle_weight_gradients_last)) return {};
  if (config.moe_path == MoePath::dropping)
    return weight_gradient_operands(block, *program.mesh, compiler, Module::mixture);
  return is_ragged_dot_dense(compiler, config) ? copies_for_experts(block, program, compiler) : Bytes{0};
}

Bytes operands_of_stage(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                        const Compiler& compiler) {
  if (!block.block->in_pipeline) return {};
  return left_in_stage(block, program, config, compiler) * (program.program->pipeline.layers_per_stage - 1);
}

}  // namespace

Bytes working_set(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler,
                  WeightGradients weight_gradients) {
  Bytes waiting, worst, late = late_operands(loop);
  for (const PartitionedBlock* block : loop) {
    const bool alone = (loop.size() == 1 && block->block->layers_per_cycle == 1) || block->block->own_loop ||
                       !compiler.has(Habit::recomputes_cycles_together);
    const Bytes values = alone ? Bytes{0} : waiting_values(*block);
    const int first = block->block->rematerialized ? block->backward_begins : 0;
    const Bytes own = working_set(*block, first, weight_gradients) + prefetched_weights(*block, program, config, compiler) +
                      operands_of_stage(*block, program, config, compiler);
    const Bytes left = late_operands(*block);
    const std::int64_t others = block->block->layers_per_cycle - 1;
    late -= left * (others + 1);
    worst = std::max({worst, waiting + values * others + late + own, waiting + left * others + late + own});
    waiting += values * (others + 1);
  }
  return worst;
}

namespace {

/// What enters each iteration of a scan; where it is a loop, what enters each iteration of that.
std::int64_t saved_inputs(const Block& block) {
  if (block.own_loop) return block.layers;
  return block.continues_cycle ? 0 : block.layers / block.layers_per_cycle;
}

}  // namespace

Bytes saved_activations(const PartitionedBlock& block, const BoundProgram& program) {
  const Block& b = *block.block;
  if (b.kind != BlockKind::layer) return {};
  if (b.beside_scan) return waiting_values(block) * b.layers;
  const auto is_counted = [&](TensorId tensor) {  // among the gathered weights
    return std::any_of(b.operations.begin(), b.operations.end(), [&](const Operation& op) {
      return op.kind == OpKind::constrain && op.output == tensor && b.tensors[op.inputs.front()].parameter;
    });
  };
  Bytes named, input;
  for (const TensorId saved : block.liveness.saved)
    if (!b.tensors[saved].shared && !is_counted(saved))
      (saved == b.input ? input : named) += saved_bytes(block, saved, *program.mesh);
  const PipelineShape& pipeline = program.program->pipeline;
  if (!b.rematerialized) named += block.gathered_weights;  // no second gather: the first one's result waits
  if (!b.in_pipeline)                                      // the scan keeps what enters each iteration
    return named * b.layers + input * saved_inputs(b);
  // Pipelines rematerialize one iteration at a time, keeping the input of every layer in it (policy names
  // iteration_input and decoder_layer_input); and they rotate microbatches through their own buffers.
  const Bytes one = local_bytes(b.tensors[b.input], block.specs()[b.input], *program.mesh);
  const Bytes buffers =
      one * (2 + pipeline.microbatches / pipeline.stages + (pipeline.circular_storage() ? pipeline.microbatches : 0));
  return (input + named) * (pipeline.iterations() * pipeline.layers_per_stage) + buffers;
}

namespace {

/// `peak` if what is no argument is off by this share.
Bytes off_by(double share, Bytes peak, const MemoryUse& use) {
  const Bytes rest = peak - use.arguments();
  return use.arguments() + Bytes{std::llround(static_cast<double>(rest.value) * (1 + share))};
}

/// What is no argument is off by `error` at most, and the head waits or doesn't; `may_wait`: that is as likely, and `early`
/// the peak if it doesn't.
std::pair<Bytes, Bytes> peak_range(const MemoryUse& use, const MemoryError& error, bool may_wait, Bytes early) {
  const Bytes least = may_wait ? std::min(use.peak(), early) : use.peak();
  const Bytes most = may_wait ? std::max(use.peak(), use.if_head_waits) : use.peak();
  return {off_by(error.low, least, use), std::max(off_by(error.high, most, use), use.if_head_waits)};
}

/// Compilers that mind memory make what can be made in turn so, up to the limit.
void take_turns(std::vector<Moment>& moments, const MemoryUse& use) {
  const Bytes limit{std::llround(schedule_limit * static_cast<double>(use.capacity.value))};
  for (Moment& moment : moments) {
    const Bytes over = use.arguments() + moment.total() - limit;
    moment.temporaries -= std::clamp(over, Bytes{0}, moment.in_turn);
  }
}

/// XLA:GPU's rematerialization, which decides by its own estimate, counts what a loop adds up as what enters it and as what
/// leaves it (plan_mixtral8x7b_h100_32: 56.6 GB with 5.8 of gradients, and these once more, of 59.2).
bool is_beyond_limit(const std::vector<Moment>& moments, const MemoryUse& use, Bytes stacks, const Compiler& compiler) {
  if (const auto budget = budget_beside_arguments(use.capacity, use.arguments(), compiler))
    return largest(moments).total() + stacks > *budget;
  const Bytes peak = use.arguments() + largest(moments).total();
  return static_cast<double>(peak.value) > schedule_limit * static_cast<double>(use.capacity.value);
}

bool runs_otherwise(const PartitionedBlock& block) { return !block.pressed.empty(); }

bool is_freed_under_pressure(const std::vector<PartitionedBlock>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), runs_otherwise);
}

/// Blocks as they run where memory is short.
std::vector<PartitionedBlock> under_pressure(const std::vector<PartitionedBlock>& blocks) {
  std::vector<PartitionedBlock> pressed = blocks;
  for (PartitionedBlock& block : pressed) {
    if (!runs_otherwise(block)) continue;
    block.lifetimes = block.pressed;
    block.weight_gradients_last = false;
  }
  return pressed;
}

void turn_stacks_within(std::vector<Moment>& moments, const MemoryUse& use, const Compiler& compiler) {
  const auto budget = budget_beside_arguments(use.capacity, use.arguments(), compiler);
  if (!budget) return;
  for (Moment& moment : moments) moment = at_turn(moment, *budget);
}

}  // namespace

MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                     const TrainConfig& config, const Compiler& compiler, Bytes capacity) {
  MemoryUse use;
  use.capacity = capacity;
  use.batch = batch_bytes(blocks, program, config);
  for (const auto& block : blocks) {
    use.parameters += parameter_bytes(block, program, config) + history_bytes(block, program);
    use.optimizer += optimizer_bytes(block, program, config);
  }
  const bool either = may_wait(blocks, compiler);
  const HeadGradient usual = either ? HeadGradient::early : HeadGradient::habitual;
  std::vector<Moment> moments = moments_of(blocks, program, config, compiler, usual);
  const Bytes first = use.arguments() + largest(moments).total();
  const HeadGradient order = either ? expected_late_or_early(blocks, program, config, compiler, use)
                                    : usual_or_listed(blocks, program, config, compiler, moments);
  if (order != usual) moments = moments_of(blocks, program, config, compiler, order);
  if (is_freed_under_pressure(blocks) &&
      is_beyond_limit(moments, use, cleared_stacks(blocks, program, config, compiler), compiler)) {
    auto less = moments_of(under_pressure(blocks), program, config, compiler, order);
    if (largest(less).total() < largest(moments).total()) moments = std::move(less);
  }
  take_turns(moments, use);
  turn_stacks_within(moments, use, compiler);
  const Moment& peak = largest(moments);
  use.gradients = peak.gradients;
  use.activations = peak.activations;
  use.temporaries = peak.temporaries;
  use.peak_moment = peak.name;
  for (const Moment& moment : moments)
    use.if_head_waits = std::max(use.if_head_waits, use.arguments() + moment.total() + moment.if_head_is_late);
  const auto error = compiler.memory_error.find(config.moe_path);
  if (error == compiler.memory_error.end()) throw InternalError("a compiler without memory_error of a path");
  std::tie(use.low, use.high) = peak_range(use, error->second, either, first);
  return use;
}

void raise_range(MemoryUse& use, double error) { use.high = std::max(use.high, off_by(error, use.peak(), use)); }

}  // namespace shardplan
