#include <fmt/format.h>

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

Bytes limit_of(const MemoryUse& memory, Certainty certainty) {
  return certainty == Certainty::sure ? memory.allowed() : memory.capacity;
}

Infeasible too_close(const MemoryUse& memory) {
  return {ConstraintId::hbm,
          fmt::format("needs {:.1f} GiB a device, {:.1f} if predictions are off by as much as they have been; {:.1f} GiB "
                      "available",
                      gibibytes(memory.peak()), gibibytes(memory.high), gibibytes(memory.allowed())),
          memory.high.value, memory.allowed().value};
}

}  // namespace

std::optional<Infeasible> rejection_of(const RunCost& run, Certainty certainty) {
  if (run.infeasible || certainty == Certainty::expected) return run.infeasible;
  if (run.memory.fit() == Fit::fits) return std::nullopt;
  return too_close(run.memory);
}

Cost cost_of(const RunCost& run, Certainty certainty) {
  const double rate = run.time.tokens_per_second_per_device * static_cast<double>(run.devices);
  const MemoryUse& memory = run.memory;
  const auto rejection = rejection_of(run, certainty);
  Cost cost;
  cost.seconds_per_token = rate > 0 ? 1 / rate : 0;
  cost.peak = memory.peak().value;
  cost.fits = !rejection;
  cost.only_too_large = lacks_memory(rejection);
  cost.marginal = rejection && !run.infeasible;
  cost.far_too_large = static_cast<double>(decisive_peak(memory, certainty).value) >
                       memory_slack * static_cast<double>(limit_of(memory, certainty).value);
  return cost;
}

}  // namespace shardplan
