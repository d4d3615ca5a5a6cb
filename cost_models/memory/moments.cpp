#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/head_order.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/newton_schulz.hpp>
#include <cost_models/memory/state/moved_stack.hpp>
#include <cost_models/memory/state/optimizer_memory.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/memory/stacked_weights.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/memory/turned_tables.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// XLA:TPU peels the backward loop of layers that read from the host: what its first iteration reads never leaves the
/// device, and waits there until it runs. Of loops inside an iteration (gemma4, ten of five layers each) it peels each.
Bytes peeled_values(const Loop& loop, const BoundProgram& program, const Compiler& compiler) {
  if (!compiler.has(Habit::peels_offloading_loops)) return {};
  Bytes values;
  for (const PartitionedBlock* block : loop) {
    const Block& b = *block->block;
    if (block->liveness.sent_late) continue;  // no loop
    const std::int64_t peeled_layers = b.own_loop ? b.layers / b.layers_per_cycle : b.layers_per_cycle;
    values += offloaded_in_one_run(*block, *program.mesh) * peeled_layers;
  }
  return values;
}

/// Weight gradients of layers that no whole cycle of the scan holds.
Bytes left_behind_scan(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  if (!compiler.has(Habit::leaves_gradients_behind_scans)) return {};
  if (!config.scan_layers || loop.front()->block->kind != BlockKind::layer) return {};
  Bytes all;
  for (const PartitionedBlock* block : loop) all += gradients_behind_scan(*block, whole_cycles(loop), program, compiler);
  return all;
}

/// Their weight gradients where a slice all-reduces them.
Bytes whole_behind_scan(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  if (!config.scan_layers || loop.front()->block->kind != BlockKind::layer) return {};
  Bytes all;
  for (const PartitionedBlock* block : loop)
    all += whole_gradients_behind_scan(*block, whole_cycles(loop), program, compiler);
  return all;
}

/// No loop parts their two forward runs: what their gradients read waits from the first one, over the loss
/// (gemma34b_v5p8_fsdp8_saveqkv, four of 34 layers: projections of the feed-forward, attention, what both branches add and
/// the sums, 2.9 GB; the last layer's projections run again).
Bytes merged_behind_scan(const Loop& loop, const Mesh& mesh, const TrainConfig& config, const Compiler& compiler) {
  if (!compiler.has(Habit::merges_single_layer_scan)) return {};
  if (!config.scan_layers || loop.front()->block->kind != BlockKind::layer) return {};
  Bytes all;
  for (const PartitionedBlock* block : loop)
    if (const std::int64_t left = layers_behind_scan(*block->block, whole_cycles(loop)); left > 0)
      all += merged_values(*block, mesh) * left;
  return all;
}

/// Whether an iteration has several layers, and none a mixture of experts.
bool is_dense_cycle(const Loop& loop) {
  const bool shared = loop.size() > 1 || loop.front()->block->layers_per_cycle > 1;
  const auto is_mixture = [](const PartitionedBlock* block) { return block->block->mixture; };
  return shared && std::none_of(loop.begin(), loop.end(), is_mixture);
}

/// What a layer's last step reads and writes.
Bytes left_at_the_end(const PartitionedBlock& block) {
  int end = 0;
  for (const auto& life : block.lifetimes) end = std::max(end, life.last);
  Bytes left;
  for (const auto& life : block.lifetimes)
    if (life.last == end) left += life.bytes;
  return left;
}

class Moments {
 public:
  Moments(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
          const Compiler& compiler, HeadGradient head)
      : blocks_(blocks), loops_(loops_of(blocks)), program_(program), config_(config), compiler_(compiler), head_(head) {
    const Bytes turned = turned_tables(blocks, program, config, compiler);
    copies_ = gathered_parameters(blocks, program, config, compiler) + turned;
    if (turned.value > 0 && turns_tables_behind_loss(blocks, *program.mesh, compiler)) behind_loss_ = turned;
    for (const auto& block : blocks) {
      waiting_ += saved_activations(block, program) + kept_lookup_mask(block, program, compiler);
      copies_ += stacked_weight_copies(block, program, config, compiler);
    }
    for (const Loop& loop : loops_)
      waiting_ += peeled_values(loop, program, compiler) + merged_behind_scan(loop, *program.mesh, config, compiler);
  }

  std::vector<Moment> all() {
    const Bytes accumulator = accumulated_gradients();
    gradients_ = accumulator;
    add_forward_loops();
    for (std::size_t i = loops_.size(); i-- > 0;) {
      run_backward(loops_[i], i);
      if (i > 0) run_peeled_iteration(loops_[i], loops_[i - 1]);
      leave(loops_[i]);
    }
    if (head_gradient_.value > 0)
      moments_.push_back({"gradient of the head", gradients_, waiting_, head_gradient_, {}, {}});
    if (config_.opt_type == OptimizerType::muon)
      add_newton_schulz(accumulator);
    else
      moments_.push_back(optimizer(accumulator));
    if (const MixedUpdates mixed = mixed_updates(blocks_, program_, config_, compiler_); mixed.together.value > 0)
      moments_.push_back({"optimizer", {}, {}, mixed.together, mixed.in_turn, {}});
    for (const TurnedUpdate& update : turned_updates(blocks_, program_, config_, compiler_))
      moments_.push_back({"optimizer", update.gradient, {}, update.copies, {}, {}});
    return std::move(moments_);
  }

 private:
  void run_backward(const Loop& loop, std::size_t number) {
    const Block& last = *loop.back()->block;
    const bool head = last.kind == BlockKind::head;
    waiting_ -= peeled_values(loop, program_, compiler_) + merged_behind_scan(loop, *program_.mesh, config_, compiler_);
    for (const PartitionedBlock* block : loop)
      if (last.kind == BlockKind::layer) gradients_ += stack_gradients(*block, program_, config_, compiler_);
    gradients_ += whole_behind_scan(loop, program_, config_, compiler_);
    const bool late = head && is_late(*loop.back());
    // Behind a peeled loop the product runs beside what is left of the loss (plan_llama3170b_tpuv6e_256), unless it makes
    // more than that (plan_llama31405b_tpuv5p_256).
    const bool leaves_weights =
        late && (head_ == HeadGradient::habitual ||
                 is_head_gradient_last_in_list(*loop.back(), program_, config_, compiler_));
    // In turn it takes the place of the gathered weight, which is as large.
    const bool listed = head && head_ == HeadGradient::early_in_list;
    const bool in_turn = listed || (head && head_ == HeadGradient::early_in_turn);
    const Bytes cleared = listed ? cleared_stacks(blocks_, program_, config_, compiler_) : Bytes{0};
    const Bytes behind = left_behind_scan(loop, program_, config_, compiler_);
    const auto weights = leaves_weights || in_turn ? WeightGradients::later : WeightGradients::here;
    const Bytes copies = head ? copies_ - behind_loss_ : copies_;
    Moment moment{head ? "loss" : "backward of " + last.name, gradients_ + cleared + behind, waiting_,
                  working_set(loop, program_, config_, compiler_, weights) + copies, {}, late_head_};
    moment.loop = number, moment.weight_gradients = weights, moment.copies = copies;
    moments_.push_back(std::move(moment));
    if (head) add_held_head(*loop.back());
    if (head) leave_head_behind(*loop.back(), late);
    if (head) add_turned_stacks();
    if (leaves_weights)
      head_gradient_ = std::max(head_gradient_, unsummed_head_gradient(*loop.back(), program_));
  }

  /// What a pipeline holds of its experts until its forward loop is through, and no longer.
  void add_forward_loops() {
    for (const auto& block : blocks_) {
      const Bytes held = held_in_forward_loop(block, program_, config_, compiler_);
      if (held.value == 0) continue;
      moments_.push_back({"forward of " + block.block->name, gradients_, waiting_, held + copies_, {}, {}});
      moments_.back().copies = held + copies_;
    }
  }

  /// Between the loss and the layers' backward pass, beside what the head left behind.
  void add_turned_stacks() {
    Bytes turned;
    for (const auto& block : blocks_) turned += turned_stacks(block, *program_.mesh, compiler_);
    if (turned.value == 0) return;
    moments_.push_back({"turn of saved rows", gradients_, waiting_, turned + copies_, {}, {}});
    moments_.back().turned = turned;
    moments_.back().not_before_loss = gradients_ - accumulated_gradients();
  }

  /// vocab_tiling_ag_once: the tiles add up the whole weight's gradient as it is stored; its sum is another such buffer, and
  /// the gathered weight is still there (recorded: llama318bx2_v5p8_fsdp8_tiles4once).
  void add_held_head(const PartitionedBlock& head) {
    if (!config_.holds_head_over_tiles()) return;
    const Bytes gathered = unsummed_head_gradient(head, program_);
    const Bytes summed = recast(gathered, config_.dtype, config_.weight_dtype);
    moments_.push_back({"sum of the head's gradient", gradients_, waiting_, gathered + summed * 2, {}, {}});
  }

  /// Behind a peeled loop its first layer runs. Where the head's weight gradient is left, it is made there, beside what the
  /// layer's own weight gradients wait for and the gradient of the table, which no longer needs the layer (recorded:
  /// plan_llama3170b_tpu7x_64).
  void run_peeled_iteration(const Loop& loop, const Loop& next) {
    const Block& last = *loop.back()->block;
    if (last.kind != BlockKind::layer || peeled_values(loop, program_, compiler_).value == 0) return;
    if (next.back()->block->kind == BlockKind::layer) return run_before_peeled_iteration(loop, next);
    if (head_ == HeadGradient::late && is_dense_cycle(loop)) return run_peeled_cycle(loop, *next.back());
    if (head_gradient_.value == 0) return;
    moments_.push_back({"backward of " + last.name, gradients_, waiting_,
                        left_at_the_end(*loop.front()) + head_gradient_ +
                            working_set(next, program_, config_, compiler_) + copies_, {}, {}});
  }

  /// What was peeled off is in no loop: of a cycle of dense layers all weight gradients come last, and the head's with them
  /// (olmo37b_v5p32_fsdp16_qkvoff_batch16: of each of four layers both projections and their gradients, 16 of bf16[16, 2048,
  /// 11008], beside the logits; olmo37b_v5p32_fsdp16_minoff_batch8). Where memory is short each layer's come with it
  /// (plan_olmo37b_tpuv6e_16: 8).
  void run_peeled_cycle(const Loop& loop, const PartitionedBlock& head) {
    Bytes operands, in_turn;
    for (const PartitionedBlock* block : loop) {
      operands += late_gradient_operands(*block, *program_.mesh, compiler_) * block->block->layers_per_cycle;
      in_turn += weight_gradient_operands(*block, *program_.mesh, compiler_, Module::mlp) * block->block->layers_per_cycle;
    }
    moments_.push_back({"backward of " + loop.back()->block->name, gradients_, waiting_,
                        operands + unsummed_head_gradient(head, program_) + copies_, in_turn, {}});
  }

  /// A layer in front of that loop is in none: it runs backward before the weight gradients of the iteration that was
  /// peeled off, which nothing waits for (recorded: plan_deepseek216b_tpuv6e_128).
  void run_before_peeled_iteration(const Loop& loop, const Loop& next) {
    const Block& before = *next.back()->block;
    if (before.single_run == SingleRun::no) return;
    Bytes left;
    for (const PartitionedBlock* block : loop) left += weight_gradient_operands(*block, *program_.mesh, compiler_);
    moments_.push_back({"backward of " + before.name, gradients_, waiting_,
                        left + working_set(next, program_, config_, compiler_) + copies_, {}, {}});
  }

  void leave(const Loop& loop) {
    for (const PartitionedBlock* block : loop) {
      waiting_ -= saved_activations(*block, program_) + kept_lookup_mask(*block, program_, compiler_);
      copies_ -= stacked_weight_copies(*block, program_, config_, compiler_);
    }
  }

  /// When the head's weight gradient is computed is a schedule's outcome, on every compiler: the habit says what is
  /// expected, the other order is the range's.
  void leave_head_behind(const PartitionedBlock& head, bool is_late) {
    const Bytes early = early_head_leftover(head, program_, config_, compiler_);
    const Bytes late = late_head_leftover(head, program_, config_, compiler_);
    const Bytes expected = is_late ? late : early;
    gradients_ += expected;
    late_head_ = std::max(late - expected, Bytes{0});
  }

  bool is_late(const PartitionedBlock& head) const {
    switch (head_) {
      case HeadGradient::habitual:
        return is_head_gradient_deferred(head, program_, config_, compiler_) &&
               !is_left_before_loop(blocks_, compiler_);
      case HeadGradient::early:
      case HeadGradient::early_in_turn:
      case HeadGradient::early_in_list:
        return false;
      case HeadGradient::late:
        return true;
    }
    throw InternalError("an order of the head's gradient that there is not");
  }

  /// Sums over accumulated passes exist from the start.
  Bytes accumulated_gradients() const {
    Bytes all;
    for (const auto& block : blocks_) all += gradients_of_passes(block, program_, config_, compiler_);
    return all;
  }

  /// All gradients wait for their common norm, then the updates are made.
  Moment optimizer(Bytes accumulator) const {
    Bytes gradients;
    for (const auto& block : blocks_) gradients += gradients_for_norm(block, program_, config_, compiler_);
    for (const Loop& loop : loops_) gradients += whole_behind_scan(loop, program_, config_, compiler_);
    const Bytes updates = updates_in_flight(blocks_, program_, config_, compiler_) +
                          moments_in_flight(blocks_, program_, config_, compiler_);
    return {"optimizer", std::max(gradients, accumulator), {}, updates, {}, {}};
  }

  /// Embedding and head are adamw's: their gradients wait. What matrices need that are worked on at once, is all counted
  /// there; of those that come one after the other, the experts' come last, when all others are updated.
  void add_newton_schulz(Bytes accumulator) {
    const NewtonSchulz needs = newton_schulz(blocks_, program_, config_, compiler_);
    Bytes gradients;
    for (const auto& block : blocks_) {
      if (block.block->kind == BlockKind::head)
        gradients += summed_gradients(block, program_, compiler_);
      else if (block.block->kind != BlockKind::layer || !compiler_.has(Habit::orthogonalizes_matrices_together))
        gradients += waiting_gradients(block, program_, config_, compiler_);
    }
    moments_.push_back({"optimizer", std::max(gradients, accumulator), {}, needs.first, {}, {}});
    moments_.push_back({"optimizer", {}, {}, needs.last, {}, {}});
  }

  const std::vector<PartitionedBlock>& blocks_;
  const std::vector<Loop> loops_;
  const BoundProgram& program_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  const HeadGradient head_;
  std::vector<Moment> moments_;
  Bytes gradients_, waiting_, copies_, late_head_;
  Bytes behind_loss_;    ///< copies that are made when it has been computed
  Bytes head_gradient_;  ///< the largest that is still to be made when the layers have run
};

}  // namespace

std::vector<Moment> moments_of(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                               const TrainConfig& config, const Compiler& compiler, HeadGradient head) {
  return Moments(blocks, program, config, compiler, head).all();
}

Bytes cleared_stacks(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                     const Compiler& compiler) {
  Bytes stacks;
  for (const auto& block : blocks)
    if (block.block->kind == BlockKind::layer) stacks += stack_gradients(block, program, config, compiler);
  return stacks;
}

Moment at_turn(Moment moment, Bytes budget) {
  if (moment.total() > budget && moment.total() - moment.turned <= budget) moment.gradients -= moment.not_before_loss;
  return moment;
}

const Moment& largest(const std::vector<Moment>& moments) {
  return *std::max_element(moments.begin(), moments.end(),
                           [](const Moment& a, const Moment& b) { return a.total() < b.total(); });
}

}  // namespace shardplan
