#include <algorithm>
#include <cost_models/time/clock_share.hpp>

namespace shardplan {
namespace {

double clock_in(int state, const PowerStates& states) {
  const std::vector<PowerState>& known = states.clocks;
  const auto above = std::find_if(known.begin(), known.end(), [&](const PowerState& s) { return s.number >= state; });
  if (above == known.begin()) return above->clock.value;
  if (above == known.end()) return known.back().clock.value;
  const PowerState& below = *(above - 1);
  const double part = static_cast<double>(state - below.number) / (above->number - below.number);
  return below.clock.value + part * (above->clock.value - below.clock.value);
}

}  // namespace

double clock_share(const HardwareProfile& hardware, const Compiler& compiler) {
  if (!hardware.power_states) return 1;
  const PowerStates& states = *hardware.power_states;
  return clock_in(compiler.power_state.value_or(states.by_default), states) / hardware.clock->value;
}

Seconds at_clock_of(const HardwareProfile& hardware, const Compiler& compiler, Seconds seconds) {
  return {seconds.value / clock_share(hardware, compiler)};
}

}  // namespace shardplan
