#include <fmt/format.h>

#include <cmath>
#include <planner/search/space/candidate.hpp>

namespace shardplan {
namespace {

bool lacks_memory(const std::optional<Infeasible>& reason) {
  return reason && reason->constraint == ConstraintId::hbm;
}

/// The bytes that have to be within what is allowed.
Bytes decisive_peak(const MemoryUse& memory, Certainty certainty) {
  return certainty == Certainty::sure ? memory.high : memory.peak();
}

Infeasible too_close(const MemoryUse& memory) {
  return {ConstraintId::hbm,
          fmt::format("needs {:.1f} GiB a device, {:.1f} if predictions are off by as much as they have been; {:.1f} GiB "
                      "available",
                      gibibytes(memory.peak()), gibibytes(memory.high), gibibytes(memory.allowed())),
          memory.high.value, memory.allowed().value};
}

std::int64_t in_microseconds(Seconds time) { return std::llround(std::min(time.value * 1e6, 1e18)); }

std::optional<Infeasible> too_slow(Seconds step, const Requirements& required) {
  if (!required.max_step || step <= *required.max_step) return std::nullopt;
  return Infeasible{ConstraintId::step_seconds,
                    fmt::format("takes {} a step, {} asked for at most", in_words(step), in_words(*required.max_step)),
                    in_microseconds(step), in_microseconds(*required.max_step)};
}

}  // namespace

Infeasible keeps_too_little_free(const MemoryUse& memory) {
  return {ConstraintId::hbm,
          fmt::format("needs {:.1f} GiB a device, {:.1f} GiB available: of {:.1f} GiB {:.1f} are kept free",
                      gibibytes(memory.peak()), gibibytes(memory.allowed()), gibibytes(memory.capacity),
                      gibibytes(memory.reserved)),
          memory.peak().value, memory.allowed().value};
}

std::optional<Infeasible> rejection_of(const RunCost& run, const Requirements& required) {
  if (run.infeasible) return run.infeasible;
  if (required.certainty == Certainty::sure && run.memory.fit() != Fit::fits) return too_close(run.memory);
  if (run.memory.peak() > run.memory.allowed()) return keeps_too_little_free(run.memory);
  return too_slow(run.time.with_routing(), required);
}

namespace {

/// Twice the rows of an expert are as many that wait for each other: such sums take longer a token in a larger batch. So do
/// scatters whose results VMEM no longer holds.
double falling_share(const StepTime& time) {
  const double busy = (time.with_routing() - time.bubble).value;
  const Seconds growing = time.parts.bias_gradients + (time.all_token_routing - time.least_all_token_routing);
  return busy > 0 ? 1 - growing.value / busy : 1;
}

}  // namespace

Bytes most_memory(Bytes allowed) {
  return {static_cast<std::int64_t>(std::floor(memory_slack * static_cast<double>(allowed.value)))};
}

Cost cost_of(const RunCost& run, const Requirements& required) {
  const double rate = run.tokens_per_second_with_routing();
  const MemoryUse& memory = run.memory;
  const Certainty certainty = required.certainty;
  const auto rejection = rejection_of(run, required);
  Cost cost;
  cost.seconds_per_token = rate > 0 ? 1 / rate : 0;
  cost.falling_seconds = cost.seconds_per_token * falling_share(run.time);
  cost.peak = memory.peak().value;
  cost.growing = (memory.activations + memory.temporaries).value;
  cost.fits = !rejection;
  cost.only_too_large = lacks_memory(rejection);
  cost.marginal = cost.only_too_large && !run.infeasible && memory.peak() <= memory.allowed() &&
                  !too_slow(run.time.with_routing(), required);
  cost.only_too_slow = rejection && rejection->constraint == ConstraintId::step_seconds;
  cost.room = (most_memory(memory.allowed()) - decisive_peak(memory, certainty)).value;
  cost.space = (most_memory(memory.allowed()) - memory.arguments()).value;
  return cost;
}

}  // namespace shardplan
