#include <planner/search/candidate.hpp>

namespace shardplan {

Cost cost_of(const Evaluation& evaluation) {
  const auto& [constraint, memory] = std::tie(evaluation.infeasible, evaluation.memory);
  const double rate = evaluation.time.tokens_per_second_per_device * static_cast<double>(evaluation.devices);
  return {rate > 0 ? 1 / rate : 0, memory.peak().value, !constraint, constraint && constraint->constraint == "hbm"};
}

}  // namespace shardplan
