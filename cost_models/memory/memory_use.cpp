#include <algorithm>
#include <cmath>
#include <cost_models/memory/compiler_budget.hpp>
#include <cost_models/memory/head_order.hpp>
#include <cost_models/memory/held_buffers.hpp>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/partition/pressed_blocks.hpp>
#include <shardplan/compiler/schedule_limit.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

std::vector<HeldBuffer> visible(std::vector<HeldBuffer> held, Bytes peak) {
  constexpr double least = 0.01;  // of the peak
  std::erase_if(held, [&](const HeldBuffer& buffer) {
    return static_cast<double>(buffer.total().value) < least * static_cast<double>(peak.value);
  });
  return held;
}

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

void turn_stacks_within(std::vector<Moment>& moments, const MemoryUse& use, const Compiler& compiler) {
  const auto budget = budget_beside_arguments(use.capacity, use.arguments(), compiler);
  if (!budget) return;
  for (Moment& moment : moments) moment = at_turn(moment, *budget);
}

MemoryUse arguments_of(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                       Bytes capacity) {
  MemoryUse use;
  use.capacity = capacity;
  use.batch = batch_bytes(blocks, program, config);
  for (const auto& block : blocks) {
    use.parameters += parameter_bytes(block, program, config) + history_bytes(block, program);
    use.optimizer += optimizer_bytes(block, program, config);
  }
  return use;
}

struct ScheduledMoments {
  std::vector<Moment> moments;
  std::vector<PartitionedBlock> pressed;  ///< as they run; empty: as they are
  bool may_wait;                          ///< when the head's gradient is made is anyone's guess
  Bytes usual_peak;                       ///< if it is made as usual
};

/// In the order that the compiler is expected to take for a device that has `use.capacity`.
ScheduledMoments scheduled_moments(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                   const TrainConfig& config, const Compiler& compiler, const MemoryUse& use) {
  ScheduledMoments scheduled;
  auto& moments = scheduled.moments;
  scheduled.may_wait = may_wait(blocks, compiler);
  const HeadGradient usual = scheduled.may_wait ? HeadGradient::early : HeadGradient::habitual;
  moments = moments_of(blocks, program, config, compiler, usual);
  scheduled.usual_peak = use.arguments() + largest(moments).total();
  const HeadGradient order = scheduled.may_wait ? expected_late_or_early(blocks, program, config, compiler, use)
                                                : usual_or_listed(blocks, program, config, compiler, moments);
  if (is_listed(order)) scheduled.pressed = in_list(blocks);
  if (order != usual)
    moments = moments_of(scheduled.pressed.empty() ? blocks : scheduled.pressed, program, config, compiler, order);
  if (is_freed_under_pressure(blocks) &&
      is_beyond_limit(moments, use, cleared_stacks(blocks, program, config, compiler), compiler)) {
    auto pressed = under_pressure(blocks);
    auto less = moments_of(pressed, program, config, compiler, order);
    if (largest(less).total() < largest(moments).total())
      moments = std::move(less), scheduled.pressed = std::move(pressed);
  }
  take_turns(moments, use);
  turn_stacks_within(moments, use, compiler);
  return scheduled;
}

}  // namespace

MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                     const TrainConfig& config, const Compiler& compiler, Bytes capacity, std::vector<HeldBuffer>* held) {
  MemoryUse use = arguments_of(blocks, program, config, capacity);
  const ScheduledMoments scheduled = scheduled_moments(blocks, program, config, compiler, use);
  const Moment& peak = largest(scheduled.moments);
  use.gradients = peak.gradients;
  use.activations = peak.activations;
  use.temporaries = peak.temporaries;
  use.peak_moment = peak.name();
  for (const Moment& moment : scheduled.moments)
    use.if_head_waits = std::max(use.if_head_waits, use.arguments() + moment.total() + moment.if_head_is_late);
  const auto error = compiler.memory_error.find(config.moe_path);
  if (error == compiler.memory_error.end()) throw InternalError("a compiler without memory_error of a path");
  std::tie(use.low, use.high) = peak_range(use, error->second, scheduled.may_wait, scheduled.usual_peak);
  const auto& as_run = scheduled.pressed.empty() ? blocks : scheduled.pressed;
  if (held) *held = visible(held_at(peak, as_run, program, config, compiler), use.peak());
  return use;
}

void raise_range(MemoryUse& use, double error) { use.high = std::max(use.high, off_by(error, use.peak(), use)); }

}  // namespace shardplan
