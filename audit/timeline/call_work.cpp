#include <algorithm>
#include <audit/timeline/call_work.hpp>

namespace shardplan {
namespace {

void add_collectives(std::size_t computation, const HloSchedule& schedule, CallWork& work) {
  for (const HloStep& step : schedule.computations[computation]) {
    if (step.collective) work.collectives.push_back({computation, *step.collective});
    for (const auto callee : step.callees) add_collectives(callee, schedule, work);
  }
}

enum class Counted : std::uint8_t { kernels, kernels_and_collectives };

double seconds_of(std::size_t computation, const HloSchedule& schedule, const StepPrices& prices, Counted counted) {
  const auto& steps = schedule.computations[computation];
  double seconds = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const HloStep& step = steps[i];
    seconds += prices.kernels[computation][i].value;
    if (step.collective && counted == Counted::kernels_and_collectives)
      seconds += prices.collectives[computation][*step.collective].value;
    double all = 0, longest = 0;
    for (const auto callee : step.callees) {
      const double one = seconds_of(callee, schedule, prices, counted);
      all += one, longest = std::max(longest, one);
    }
    seconds += step.kind == HloStepKind::branch ? longest : all * static_cast<double>(step.trips.value_or(1));
  }
  return seconds;
}

}  // namespace

CallWork work_of(const std::vector<std::size_t>& computations, const HloSchedule& schedule, const StepPrices& prices) {
  CallWork work;
  for (const auto computation : computations) {
    add_collectives(computation, schedule, work);
    work.kernels += seconds_of(computation, schedule, prices, Counted::kernels);
  }
  return work;
}

double serial_seconds(std::size_t computation, const HloSchedule& schedule, const StepPrices& prices) {
  return seconds_of(computation, schedule, prices, Counted::kernels_and_collectives);
}

}  // namespace shardplan
