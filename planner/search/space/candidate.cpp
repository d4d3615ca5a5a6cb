#include <planner/search/space/candidate.hpp>

namespace shardplan {

Cost cost_of(const Evaluation& evaluation) {
  const double rate = evaluation.time.tokens_per_second_per_device * static_cast<double>(evaluation.devices);
  const Bytes peak = evaluation.memory.peak();
  Cost cost{rate > 0 ? 1 / rate : 0, peak.value, !evaluation.infeasible, false, false};
  cost.only_too_large = evaluation.infeasible && evaluation.infeasible->constraint == ConstraintId::hbm;
  cost.far_too_large =
      static_cast<double>(peak.value) > memory_slack * static_cast<double>(evaluation.memory.capacity.value);
  return cost;
}

}  // namespace shardplan
