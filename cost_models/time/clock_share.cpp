#include <fmt/format.h>

#include <algorithm>
#include <cost_models/time/clock_share.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

double clock_in(int state, const HardwareProfile& hardware) {
  const std::vector<PowerState>& known = hardware.power_states->clocks;
  if (state < known.front().number || state > known.back().number)
    throw InputError(fmt::format("power state {}: {} has clocks of states {} to {} (power_states)", state, hardware.name,
                                 known.front().number, known.back().number));
  const auto above = std::find_if(known.begin() + 1, known.end(), [&](const auto& s) { return s.number >= state; });
  const PowerState& below = *(above - 1);
  const double part = static_cast<double>(state - below.number) / (above->number - below.number);
  return below.clock.value + part * (above->clock.value - below.clock.value);
}

}  // namespace

double clock_share(const HardwareProfile& hardware, const Compiler& compiler) {
  if (!hardware.power_states) return 1;
  const int state = compiler.power_state.value_or(hardware.power_states->by_default);
  return clock_in(state, hardware) / hardware.clock->value;
}

Seconds at_clock_of(const HardwareProfile& hardware, const Compiler& compiler, Seconds seconds) {
  if (seconds.value == 0) return seconds;
  return {seconds.value / clock_share(hardware, compiler)};
}

}  // namespace shardplan
