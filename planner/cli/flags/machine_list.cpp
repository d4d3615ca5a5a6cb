#include <fmt/format.h>

#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/machine_list.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::vector<std::string> machine_words(const std::optional<std::string>& hardware) {
  return hardware ? parse_list_or_all("--hardware", *hardware, profile_names()) : default_profile_names();
}

void MachineNames::add(const std::string& word, const std::string& name) {
  const auto [known, is_new] = words_.emplace(name, word);
  if (is_new) return;
  if (is_json_path(word) || is_json_path(known->second))
    throw InputError(fmt::format("--hardware: two machines are called {}; give one another name in its file", name));
  throw InputError(fmt::format("--hardware: {} and {} are the same machine, {}", known->second, word, name));
}

}  // namespace shardplan
