#include <algorithm>
#include <audit/timeline/call_work.hpp>

namespace shardplan {
namespace {

void add(std::size_t computation, const HloSchedule& schedule, const StepPrices& prices, CallWork& work) {
  const auto& steps = schedule.computations[computation];
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].collective) work.collectives.push_back({computation, *steps[i].collective});
    work.kernels += prices.kernels[computation][i].value;
    for (const auto callee : steps[i].callees) add(callee, schedule, prices, work);
  }
}

}  // namespace

CallWork work_of(const std::vector<std::size_t>& computations, const HloSchedule& schedule, const StepPrices& prices) {
  CallWork work;
  for (const auto computation : computations) add(computation, schedule, prices, work);
  return work;
}

double serial_seconds(std::size_t computation, const HloSchedule& schedule, const StepPrices& prices) {
  const auto& steps = schedule.computations[computation];
  double seconds = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const HloStep& step = steps[i];
    seconds += prices.kernels[computation][i].value;
    if (step.collective) seconds += prices.collectives[computation][*step.collective].value;
    double all = 0, longest = 0;
    for (const auto callee : step.callees) {
      const double one = serial_seconds(callee, schedule, prices);
      all += one, longest = std::max(longest, one);
    }
    seconds += step.kind == HloStepKind::branch ? longest : all * static_cast<double>(step.trips.value_or(1));
  }
  return seconds;
}

}  // namespace shardplan
