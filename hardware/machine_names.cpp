#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <hardware/slices.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

/// The sizes that a name may end in: "16", "32-1x4x4".
bool is_size(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.find_first_not_of("0123456789-x") == text.npos;
}

}  // namespace

std::optional<std::string> profile_called(const std::string& name) {
  const std::string spelled = same_spelling(name);
  for (const auto& candidate : all_profile_names()) {
    const HardwareProfile profile = load_profile(candidate);
    const auto is_it = [&](const std::string& known) { return same_spelling(known) == spelled; };
    if (is_it(profile.name) || std::any_of(profile.aliases.begin(), profile.aliases.end(), is_it)) return profile.name;
  }
  return std::nullopt;
}

MachineName machine_called(const std::string& name_or_path) {
  if (is_json_path(name_or_path)) return {name_or_path, std::nullopt};
  if (const auto profile = profile_called(name_or_path)) return {*profile, std::nullopt};
  const std::string name = lower_case(name_or_path);
  for (std::size_t dash = name.find('-'); dash != name.npos; dash = name.find('-', dash + 1)) {
    const auto called = is_size(name.substr(dash + 1)) ? profile_called(name.substr(0, dash)) : std::nullopt;
    if (!called) continue;
    const HardwareProfile profile = load_profile(*called);
    return {profile.name, slice_called(profile, profile.slice_prefix + name.substr(dash))};
  }
  return {name_or_path, std::nullopt};
}

void check_has_no_size(const std::string& flag, const std::string& name_or_path) {
  const MachineName machine = machine_called(name_or_path);
  if (!machine.slice) return;
  throw InputError(fmt::format("{} {}: that is {} of {}, and here a machine has no size; give {}", flag, name_or_path,
                               counted(machine.slice->chips, "chip"), machine.profile, machine.profile));
}

}  // namespace shardplan
