#include <cost_models/blocks/buffers/buffers.hpp>
#include <cost_models/blocks/buffers/exchanged_experts.hpp>
#include <cost_models/blocks/buffers/kept_feed_forward.hpp>
#include <cost_models/blocks/buffers/softmax_statistics.hpp>
#include <cost_models/blocks/late_gradients.hpp>
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/blocks/liveness.hpp>
#include <cost_models/blocks/partition_block.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/blocks/shared_tables.hpp>
#include <cost_models/blocks/stack_work.hpp>
#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <optional>
#include <shardplan/compiler/late_sends.hpp>

namespace shardplan {
namespace {

class BlockWalk {
 public:
  BlockWalk(const BoundProgram& program, const BoundBlock& bound, const TrainConfig& config,
            const Compiler& compiler, Liveness liveness, std::shared_ptr<BlockLayout> layout = nullptr)
      : is_laid_out_(layout != nullptr),
        state_(program, bound, config, compiler, std::move(layout)),
        liveness_(std::move(liveness)) {
    const std::size_t count = operations().size();
    for (auto* steps : {&schedule_.forward, &schedule_.recomputed, &schedule_.backward_begins, &schedule_.backward_ends})
      steps->assign(count, -1);
  }

  PartitionedBlock run() {
    if (!is_laid_out_) lay_out();
    run_forward();
    PartitionedBlock result;
    result.backward_begins = state_.forms.step() + 1;
    if (trains()) recompute();
    result.gradients_begin = state_.forms.step() + 1;
    if (trains()) run_backward();
    result.block = &state_.block;
    result.late_gradients_begin = late_gradients_begin_;
    result.weight_gradients_last = as_made_.has_value();
    const StepOrder order(state_, schedule_, liveness_);
    result.gradients_begin -= order.postponed();
    const Schedule ordered = order.ordered(schedule_);
    result.lifetimes = buffers_of(state_, ordered, liveness_, order);
    if (order.dropped_experts().writes_hidden_rows_twice()) result.pressed = taken_apart();
    if (can_free_early() || waits_depth_first(state_, liveness_))
      result.pressed = buffers_of(state_, ordered, liveness_, order, Pressure::high);
    if (state_.compiler.has(Habit::frees_under_pressure) && result.weight_gradients_last &&
        shares_iteration(state_.block, *state_.program.program))
      result.pressed = buffers_of(state_, order.ordered(*as_made_), liveness_, order, Pressure::high);
    result.collectives = state_.recorder.take();
    result.counts = state_.recorder.take_counts();
    result.gathered_weights = state_.forms.gathered_weights();
    result.liveness = std::move(liveness_);
    result.layout = state_.layout();
    result.stacks = stack_work(result, state_.program, state_.config, state_.compiler);
    return result;
  }

 private:
  /// Whether a scheduler that is short of memory runs this layer otherwise. Where sums run beside compute (7x) expert weight
  /// gradients stay last (plan_kimik21t_tpu7x_512).
  bool can_free_early() const {
    if (!state_.compiler.has(Habit::frees_under_pressure) || !state_.block.mixture || !trains()) return false;
    if (!ExchangedExperts(state_, schedule_).any()) return !softmax_statistics(state_, schedule_, false).empty();
    return !state_.compiler.overlap.asynchronous.has(CollectiveKind::reduce_scatter);
  }

  /// As rematerialization leaves it.
  std::vector<Lifetime> taken_apart() const {
    const StepOrder order(state_, schedule_, liveness_, Pressure::high);
    return buffers_of(state_, order.ordered(schedule_), liveness_, order, Pressure::high);
  }

  bool trains() const { return state_.program.program->step == StepKind::train; }

  const std::vector<Operation>& operations() const { return state_.block.operations; }

  int next_step() {
    state_.forms.advance();
    return state_.forms.step();
  }

  void lay_out() {
    propagate();
    BlockLayout& layout = *state_.layout();
    layout.stored = stored();
    layout.work.reserve(operations().size());
    for (const auto& op : operations()) {
      OperationWork work = operation_kind(op.kind).work(state_, op);
      layout.work.push_back(trains() ? work : forward_of(work));
    }
  }

  void propagate() {
    for (const auto& op : operations())
      if (!state_.is_constrained(op.output))
        state_.lay_out(op.output, operation_kind(op.kind).result_spec(state_, op));
    for (const auto& op : operations()) operation_kind(op.kind).prepare(state_, op);
  }

  void run_forward() {
    for (std::size_t i = 0; i < operations().size(); ++i) {
      schedule_.forward[i] = next_step();
      operation_kind(operations()[i].kind).forward(state_, operations()[i], Pass::forward);
    }
  }

  void recompute() {
    for (std::size_t i = 0; i < operations().size() && state_.block.rematerialized; ++i) {
      if (!liveness_.recomputed[i]) continue;
      schedule_.recomputed[i] = next_step();
      operation_kind(operations()[i].kind).forward(state_, operations()[i], Pass::backward);
    }
  }

  void run_backward() {
    state_.forms.turn_backward(
        released_weights(state_.block, state_.flow(), *state_.program.program, liveness_, state_.config, state_.compiler));
    state_.forms.gather_apart(gathered_apart(state_, liveness_));
    for (std::size_t i = operations().size(); i-- > 0;) {
      schedule_.backward_begins[i] = next_step();
      operation_kind(operations()[i].kind).settle(state_, operations()[i]);
      operation_kind(operations()[i].kind).backward(state_, operations()[i]);
      schedule_.backward_ends[i] = state_.forms.step();
    }
    run_late_weight_gradients();
    leave_weight_gradients_to_the_end();
    keep_gathered_gradients();
  }

  void run_late_weight_gradients() {
    state_.forms.turn_to_late_gradients(far_operands(state_, liveness_));
    for (std::size_t i = operations().size(); i-- > 0;) {
      if (!state_.is_weight_gradient_late(operations()[i])) continue;
      const int step = next_step();
      if (late_gradients_begin_ == 0) late_gradients_begin_ = step;
      operation_kind(operations()[i].kind).late_backward(state_, operations()[i]);
      schedule_.backward_ends[i] = state_.forms.step();
    }
  }

  /// What they read waits for them; what they move is moved as ever.
  void leave_weight_gradients_to_the_end() {
    if (!runs_weight_gradients_last(state_, schedule_)) return;
    as_made_ = schedule_;
    for (std::size_t i = 0; i < operations().size(); ++i)
      if (state_.is_layer_product(operations()[i])) schedule_.backward_ends[i] = state_.forms.step();
  }

  /// wo's weight gradient reads what tensor parallelism gathered for that of its rows, and runs last (7x, v6e:
  /// qwen330ba3bx2_v6e8_ep4tp2; on v5p as soon as the rows' gradient is made, mixtral8x7bx4_v5p16_tp4ep4_savedot_noclip).
  void keep_gathered_gradients() {
    const ExchangedExperts exchanged(state_, schedule_);
    for (std::size_t i = 0; i < operations().size(); ++i)
      if (exchanged.waits(static_cast<OperationId>(i)))
        state_.forms.keep_gradient(operations()[i].output, exchanged.gradients_end(static_cast<OperationId>(i)));
  }

  /// Of each parameter its layer's share of the array that the device holds.
  std::vector<std::int64_t> stored() const {
    const std::int64_t layers = layers_in_an_array(state_.block, state_.program.program->pipeline, state_.config);
    std::vector<std::int64_t> all;
    all.reserve(state_.block.tensors.size());
    for (std::size_t i = 0; i < state_.block.tensors.size(); ++i)
      all.push_back(stored_elements(state_.block.tensors[i], state_.specs()[i], state_.mesh, state_.compiler, layers));
    return all;
  }

  const bool is_laid_out_;
  BlockState state_;
  Liveness liveness_;
  Schedule schedule_;
  std::optional<Schedule> as_made_;  ///< with weight gradients where their operands are; empty: they don't run last
  int late_gradients_begin_ = 0;
};

Liveness liveness_of(const Block& block, const Program& program, const TrainConfig& config, const Compiler& compiler) {
  if (program.step != StepKind::train) return nothing_saved(block);
  // In the loop of gradient accumulation lookups are merged, too (recorded).
  const bool looks_up_twice = compiler.has(Habit::looks_up_rotations_twice) && config.gradient_accumulation_steps == 1;
  Liveness liveness = liveness_of(block, block.own_backward ? *block.own_backward : config.saved,
                                  leads_to_next_layer(block, program), !looks_up_twice);
  liveness.step_offloads = offloads(config.saved);
  liveness.sent_late = sends_late(config, compiler) && !block.in_pipeline && !liveness.offloaded.empty();
  return liveness;
}

}  // namespace

PartitionedBlock partition_block(const BoundProgram& program, const BoundBlock& block, const TrainConfig& config,
                                 const Compiler& compiler) {
  return BlockWalk(program, block, config, compiler, liveness_of(*block.block, *program.program, config, compiler)).run();
}

std::vector<PartitionedBlock> partition(const BoundProgram& program, const TrainConfig& config,
                                        const Compiler& compiler) {
  std::vector<PartitionedBlock> blocks;
  repartition(blocks, program, config, compiler);
  return blocks;
}

void repartition(std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                 const Compiler& compiler, KnownBlocks* shared) {
  const auto walked = [&](std::size_t i, Liveness liveness) {
    return BlockWalk(program, program.blocks[i], config, compiler, std::move(liveness), blocks[i].layout).run();
  };
  const auto found_or_walked = [&](std::size_t i, Liveness liveness) {
    const bool follows_policy = program.blocks[i].block->single_run != SingleRun::no;  // beyond its liveness
    if (!shared || follows_policy) return walked(i, std::move(liveness));
    if (auto known = shared->find(program, i, liveness, config, compiler)) return *std::move(known);
    PartitionedBlock block = walked(i, std::move(liveness));
    shared->add(program, i, block, config);
    return block;
  };
  const std::size_t known = blocks.size();
  blocks.resize(program.blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = *program.blocks[i].block;
    if (i < known && block.kind != BlockKind::layer) continue;  // policies concern layers
    Liveness liveness = liveness_of(block, *program.program, config, compiler);
    // What runs once is kept whatever the policy, which says what it gathers again.
    if (i < known && blocks[i].liveness == liveness && block.single_run == SingleRun::no) continue;
    blocks[i] = found_or_walked(i, std::move(liveness));
    if (compiler.has(Habit::shares_gathered_tables)) share_gathered_table(std::span(blocks).first(i), blocks[i], compiler);
  }
}

}  // namespace shardplan
