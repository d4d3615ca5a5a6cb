#include <algorithm>
#include <cmath>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/optimizer_memory.hpp>
#include <cost_models/memory/stacked_weights.hpp>
#include <cost_models/memory/static_memory.hpp>
#include <cost_models/memory/turned_tables.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

struct Moment {
  std::string name;
  Bytes gradients, activations, temporaries;
  Bytes if_head_is_late;  ///< what would wait besides, if the head's weight gradient were computed last
  Bytes total() const { return gradients + activations + temporaries; }
};

}  // namespace

Bytes working_set(const PartitionedBlock& block, int first_step) {
  int last_step = first_step;
  for (const auto& life : block.lifetimes) last_step = std::max(last_step, life.last);
  std::vector<std::int64_t> change(last_step - first_step + 2, 0);
  for (const auto& life : block.lifetimes) {
    if (life.last < std::max(life.first, first_step)) continue;
    change[std::max(life.first, first_step) - first_step] += life.bytes.value;
    change[life.last - first_step + 1] -= life.bytes.value;
  }
  std::int64_t now = 0, worst = 0;
  for (const std::int64_t step : change) worst = std::max(worst, now += step);
  return {worst};
}

namespace {

/// Buffers of one layer that live from its recomputation into its backward pass.
Bytes waiting_values(const PartitionedBlock& block) {
  Bytes total;
  for (const auto& life : block.lifetimes)
    if (life.first < block.gradients_begin && life.last >= block.gradients_begin && life.last >= block.backward_begins)
      total += life.bytes;
  return total;
}

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

Bytes working_set(const Loop& loop, const BoundProgram& program, const TrainConfig& config,
                  const Compiler& compiler) {
  Bytes waiting, worst;
  for (const PartitionedBlock* block : loop) {
    const bool alone = (loop.size() == 1 && block->block->layers_per_cycle == 1) || block->block->own_loop ||
                       !compiler.has(Habit::recomputes_cycles_together);
    const Bytes values = alone ? Bytes{0} : waiting_values(*block);
    const int first = block->block->rematerialized ? block->backward_begins : 0;
    waiting += values * block->block->layers_per_cycle;
    worst =
        std::max(worst, waiting - values + working_set(*block, first) +
                            prefetched_weights(*block, program, config, compiler));
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
      (saved == b.input ? input : named) += local_bytes(b.tensors[saved], block.specs[saved], *program.mesh);
  const PipelineShape& pipeline = program.program->pipeline;
  if (!b.rematerialized) named += block.gathered_weights;  // no second gather: the first one's result waits
  if (!b.in_pipeline)                                      // the scan keeps what enters each iteration
    return named * b.layers + input * saved_inputs(b);
  // Pipelines rematerialize one iteration at a time, keeping the input of every layer in it (policy names
  // iteration_input and decoder_layer_input); and they rotate microbatches through their own buffers.
  const Bytes one = local_bytes(b.tensors[b.input], block.specs[b.input], *program.mesh);
  const Bytes buffers =
      one * (2 + pipeline.microbatches / pipeline.stages + (pipeline.circular_storage() ? pipeline.microbatches : 0));
  return (input + named) * (pipeline.iterations() * pipeline.layers_per_stage) + buffers;
}

namespace {

/// The moment's parts are off by `error` at most, and wait for a late head as well as not.
std::pair<Bytes, Bytes> peak_range(const MemoryUse& use, Bytes late_total, const MemoryError& error) {
  const auto off_by = [](Bytes bytes, double share) {
    return Bytes{std::llround(static_cast<double>(bytes.value) * (1 + share))};
  };
  const Bytes expected = use.peak() - use.arguments();
  return {use.arguments() + off_by(expected, error.low),
          use.arguments() + std::max(off_by(expected, error.high), late_total)};
}

/// Moments in the order of the step's second half: the loss, the layer stacks backward, the optimizer.
class Moments {
 public:
  Moments(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
          const Compiler& compiler)
      : blocks_(blocks), program_(program), config_(config), compiler_(compiler) {
    copies_ = gathered_parameters(blocks, program, config, compiler) +
              turned_tables(blocks, program, config, compiler);
    for (const auto& block : blocks) {
      waiting_ += saved_activations(block, program);
      copies_ += stacked_weight_copies(block, program, config, compiler);
    }
  }

  std::vector<Moment> all(Bytes accumulator) {
    gradients_ = accumulator;
    auto loops = loops_of(blocks_);
    std::reverse(loops.begin(), loops.end());
    for (const auto& loop : loops) run_backward(loop);
    moments_.push_back(optimizer(accumulator));
    return std::move(moments_);
  }

 private:
  void run_backward(const Loop& loop) {
    const Block& last = *loop.back()->block;
    const bool head = last.kind == BlockKind::head;
    for (const PartitionedBlock* block : loop)
      if (last.kind == BlockKind::layer) gradients_ += stack_gradients(*block, program_, config_, compiler_);
    moments_.push_back({head ? "loss" : "backward of " + last.name, gradients_, waiting_,
                        working_set(loop, program_, config_, compiler_) + copies_, late_head_});
    if (head) leave_head_behind(*loop.back());
    for (const PartitionedBlock* block : loop) {
      waiting_ -= saved_activations(*block, program_);
      copies_ -= stacked_weight_copies(*block, program_, config_, compiler_);
    }
  }

  /// When the head's weight gradient is computed is a schedule's outcome, on every compiler: the habit says what is
  /// expected, the other order is the range's.
  void leave_head_behind(const PartitionedBlock& head) {
    const Bytes early = early_head_leftover(head, program_, compiler_);
    const Bytes late = late_head_leftover(head, program_, config_, compiler_);
    const Bytes expected = is_head_gradient_deferred(head, program_, compiler_) ? late : early;
    gradients_ += expected;
    late_head_ = std::max(late - expected, Bytes{0});
  }

  /// All gradients wait for their common norm, then the updates are made.
  Moment optimizer(Bytes accumulator) const {
    Bytes gradients;
    for (const auto& block : blocks_) gradients += waiting_gradients(block, program_, config_, compiler_);
    return {
        "optimizer", std::max(gradients, accumulator), {}, updates_in_flight(blocks_, program_, config_, compiler_),
        {}};
  }

  const std::vector<PartitionedBlock>& blocks_;
  const BoundProgram& program_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  std::vector<Moment> moments_;
  Bytes gradients_, waiting_, copies_, late_head_;
};

}  // namespace

MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                     const TrainConfig& config, const Compiler& compiler) {
  MemoryUse use;
  use.batch = batch_bytes(blocks, program, config);
  for (const auto& block : blocks) {
    use.parameters += parameter_bytes(block, program, config) + history_bytes(block, program);
    use.optimizer += optimizer_bytes(block, program, config);
  }
  Bytes accumulator;
  for (const auto& block : blocks)
    if (config.gradient_accumulation_steps > 1)
      accumulator += whole_parameter_bytes(block, program, accumulation_dtype(*program.mesh, config));
  const auto moments = Moments(blocks, program, config, compiler).all(accumulator);
  const auto peak = std::max_element(moments.begin(), moments.end(),
                                     [](const Moment& a, const Moment& b) { return a.total() < b.total(); });
  use.gradients = peak->gradients;
  use.activations = peak->activations;
  use.temporaries = peak->temporaries;
  use.peak_moment = peak->name;
  Bytes late;
  for (const Moment& moment : moments) late = std::max(late, moment.total() + moment.if_head_is_late);
  const auto error = compiler.memory_error.find(config.moe_path);
  if (error == compiler.memory_error.end()) throw InternalError("a compiler without memory_error of a path");
  std::tie(use.low, use.high) = peak_range(use, late, error->second);
  return use;
}

}  // namespace shardplan
