#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/head_order.hpp>
#include <cost_models/memory/loop_parts.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/state/newton_schulz.hpp>
#include <cost_models/memory/state/moved_stack.hpp>
#include <cost_models/memory/state/optimizer_memory.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/memory/turned_tables.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

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
    for (const auto& block : blocks) accumulated_ += gradients_of_passes(block, program, config, compiler);
    parts_.reserve(loops_.size());
    for (const Loop& loop : loops_) {
      const LoopParts& parts = parts_.emplace_back(loop_parts(loop, program, config, compiler));
      waiting_ += parts.waiting + parts.peeled + parts.merged;
      copies_ += parts.copies;
    }
  }

  std::vector<Moment> all() {
    gradients_ = accumulated_;
    add_forward_loops();
    for (std::size_t i = loops_.size(); i-- > 0;) {
      run_backward(i);
      if (i > 0) run_peeled_iteration(i);
      waiting_ -= parts_[i].waiting;
      copies_ -= parts_[i].copies;
    }
    if (head_gradient_.value > 0)
      moments_.push_back({.kind = MomentKind::head_gradient,
                          .gradients = gradients_,
                          .activations = waiting_,
                          .temporaries = head_gradient_});
    if (config_.opt_type == OptimizerType::muon)
      add_newton_schulz();
    else
      add_optimizer();
    if (const MixedUpdates mixed = mixed_updates(blocks_, program_, config_, compiler_); mixed.together.value > 0)
      moments_.push_back({.kind = MomentKind::optimizer, .temporaries = mixed.together, .in_turn = mixed.in_turn});
    for (const TurnedUpdate& update : turned_updates(blocks_, program_, config_, compiler_))
      moments_.push_back(
          {.kind = MomentKind::optimizer, .gradients = update.gradient, .temporaries = update.copies});
    return std::move(moments_);
  }

 private:
  void run_backward(std::size_t number) {
    const Loop& loop = loops_[number];
    const LoopParts& parts = parts_[number];
    const Block& last = *loop.back()->block;
    const bool head = last.kind == BlockKind::head;
    waiting_ -= parts.peeled + parts.merged;
    for (const PartitionedBlock* block : loop)
      if (last.kind == BlockKind::layer) gradients_ += stack_gradients(*block, program_, config_, compiler_);
    gradients_ += parts.whole;
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
    const auto weights = leaves_weights || in_turn ? WeightGradients::later : WeightGradients::here;
    const Bytes copies = head ? copies_ - behind_loss_ : copies_;
    moments_.push_back({.kind = head ? MomentKind::loss : MomentKind::backward,
                        .block = &last,
                        .gradients = gradients_ + cleared + parts.behind,
                        .activations = waiting_,
                        .temporaries = working_set(loop, program_, config_, compiler_, weights) + copies,
                        .if_head_is_late = late_head_,
                        .loop = number,
                        .weight_gradients = weights,
                        .copies = copies});
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
      moments_.push_back({.kind = MomentKind::forward,
                          .block = block.block,
                          .gradients = gradients_,
                          .activations = waiting_,
                          .temporaries = held + copies_,
                          .copies = held + copies_});
    }
  }

  /// Between the loss and the layers' backward pass, beside what the head left behind.
  void add_turned_stacks() {
    Bytes turned;
    for (const auto& block : blocks_) turned += turned_stacks(block, *program_.mesh, compiler_);
    if (turned.value == 0) return;
    moments_.push_back({.kind = MomentKind::turn_of_rows,
                        .gradients = gradients_,
                        .activations = waiting_,
                        .temporaries = turned + copies_,
                        .turned = turned,
                        .not_before_loss = gradients_ - accumulated_});
  }

  /// vocab_tiling_ag_once: the tiles add up the whole weight's gradient as it is stored; its sum is another such buffer, and
  /// the gathered weight is still there (recorded: llama318bx2_v5p8_fsdp8_tiles4once).
  void add_held_head(const PartitionedBlock& head) {
    if (!config_.holds_head_over_tiles()) return;
    const Bytes gathered = unsummed_head_gradient(head, program_);
    const Bytes summed = recast(gathered, config_.dtype, config_.weight_dtype);
    moments_.push_back({.kind = MomentKind::head_over_tiles,
                        .gradients = gradients_,
                        .activations = waiting_,
                        .temporaries = gathered + summed * 2});
  }

  /// Of what runs outside of its loop, beside what was copied in front of the loops.
  void add_backward(const Block& block, Bytes temporaries, Bytes in_turn = {}) {
    moments_.push_back({.kind = MomentKind::backward,
                        .block = &block,
                        .gradients = gradients_,
                        .activations = waiting_,
                        .temporaries = temporaries + copies_,
                        .in_turn = in_turn});
  }

  /// Behind a peeled loop its first layer runs. Where the head's weight gradient is left, it is made there, beside what the
  /// layer's own weight gradients wait for and the gradient of the table, which no longer needs the layer (recorded:
  /// plan_llama3170b_tpu7x_64).
  void run_peeled_iteration(std::size_t number) {
    const Loop &loop = loops_[number], &next = loops_[number - 1];
    const Block& last = *loop.back()->block;
    if (last.kind != BlockKind::layer || parts_[number].peeled.value == 0) return;
    if (next.back()->block->kind == BlockKind::layer) return run_before_peeled_iteration(loop, next);
    if (head_ == HeadGradient::late && is_dense_cycle(loop)) return run_peeled_cycle(loop, *next.back());
    if (head_gradient_.value == 0) return;
    add_backward(last,
                 left_at_the_end(*loop.front()) + head_gradient_ + working_set(next, program_, config_, compiler_));
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
    add_backward(*loop.back()->block, operands + unsummed_head_gradient(head, program_), in_turn);
  }

  /// A layer in front of that loop is in none: it runs backward before the weight gradients of the iteration that was
  /// peeled off, which nothing waits for (recorded: plan_deepseek216b_tpuv6e_128).
  void run_before_peeled_iteration(const Loop& loop, const Loop& next) {
    const Block& before = *next.back()->block;
    if (before.single_run == SingleRun::no) return;
    Bytes left;
    for (const PartitionedBlock* block : loop) left += weight_gradient_operands(*block, *program_.mesh, compiler_);
    add_backward(before, left + working_set(next, program_, config_, compiler_));
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

  /// All gradients wait for their common norm, then the updates are made.
  void add_optimizer() {
    Bytes gradients;
    for (const auto& block : blocks_) gradients += gradients_for_norm(block, program_, config_, compiler_);
    for (const LoopParts& parts : parts_) gradients += parts.whole;
    const Bytes updates = updates_in_flight(blocks_, program_, config_, compiler_) +
                          moments_in_flight(blocks_, program_, config_, compiler_);
    moments_.push_back({.kind = MomentKind::optimizer,
                        .gradients = std::max(gradients, accumulated_),
                        .temporaries = updates});
  }

  /// Embedding and head are adamw's: their gradients wait. What matrices need that are worked on at once, is all counted
  /// there; of those that come one after the other, the experts' come last, when all others are updated.
  void add_newton_schulz() {
    const NewtonSchulz needs = newton_schulz(blocks_, program_, config_, compiler_);
    Bytes gradients;
    for (const auto& block : blocks_) {
      if (block.block->kind == BlockKind::head)
        gradients += summed_gradients(block, program_, compiler_);
      else if (block.block->kind != BlockKind::layer || !compiler_.has(Habit::orthogonalizes_matrices_together))
        gradients += waiting_gradients(block, program_, config_, compiler_);
    }
    moments_.push_back({.kind = MomentKind::optimizer,
                        .gradients = std::max(gradients, accumulated_),
                        .temporaries = needs.first});
    moments_.push_back({.kind = MomentKind::optimizer, .temporaries = needs.last});
  }

  const std::vector<PartitionedBlock>& blocks_;
  const std::vector<Loop> loops_;
  const BoundProgram& program_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  const HeadGradient head_;
  std::vector<Moment> moments_;
  std::vector<LoopParts> parts_;  ///< one a loop
  Bytes accumulated_;             ///< sums over accumulated passes, which exist from the start
  Bytes gradients_, waiting_, copies_, late_head_;
  Bytes behind_loss_;    ///< copies that are made when it has been computed
  Bytes head_gradient_;  ///< the largest that is still to be made when the layers have run
};

}  // namespace

std::string Moment::name() const {
  switch (kind) {
    case MomentKind::loss:
      return "loss";
    case MomentKind::forward:
      return "forward of " + block->name;
    case MomentKind::backward:
      return "backward of " + block->name;
    case MomentKind::head_gradient:
      return "gradient of the head";
    case MomentKind::head_over_tiles:
      return "sum of the head's gradient";
    case MomentKind::turn_of_rows:
      return "turn of saved rows";
    case MomentKind::optimizer:
      return "optimizer";
  }
  throw InternalError("unknown MomentKind");
}

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
