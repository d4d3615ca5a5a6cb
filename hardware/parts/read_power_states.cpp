#include <fmt/format.h>

#include <algorithm>
#include <formats/read_figure.hpp>
#include <hardware/parts/read_power_states.hpp>

namespace shardplan {
namespace {

PowerState read_state(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  PowerState state{object.count("state", 0), read_figure(object, "clock", Dimension::cycles_per_second)};
  object.finish();
  return state;
}

}  // namespace

std::optional<PowerStates> read_power_states(StrictObject& profile) {
  if (!profile.has("power_states")) return std::nullopt;
  StrictObject object = profile.object("power_states");
  PowerStates states;
  states.by_default = object.count("default", 0);
  for (const auto& value : object.array("clocks")) {
    const std::string where = fmt::format("{}.clocks[{}]", object.where(), states.clocks.size());
    states.clocks.push_back(read_state(value, where));
    if (states.clocks.size() > 1 && states.clocks.back().number <= states.clocks[states.clocks.size() - 2].number)
      object.fail("clocks", "states in ascending order");
  }
  if (states.clocks.size() < 2) object.fail("clocks", "two states at least");
  const auto is_default = [&](const PowerState& state) { return state.number == states.by_default; };
  if (std::none_of(states.clocks.begin(), states.clocks.end(), is_default)) object.fail("default", "a state of clocks");
  object.finish();
  return states;
}

}  // namespace shardplan
