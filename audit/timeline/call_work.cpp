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
  const CallWork work = work_of({computation}, schedule, prices);
  double seconds = work.kernels;
  for (const auto& [of, collective] : work.collectives) seconds += prices.collectives[of][collective].value;
  return seconds;
}

}  // namespace shardplan
