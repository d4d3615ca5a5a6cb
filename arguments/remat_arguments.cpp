#include <fmt/format.h>

#include <array>
#include <arguments/keys/argument_table.hpp>
#include <arguments/argument_values.hpp>
#include <arguments/remat_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view places[] = {"remat", "device", "offload"};

SavePlace parse_place(const std::string& text, const std::string& place) {
  const std::string word = parse_word(text, places, place);
  if (word == "device") return SavePlace::device;
  return word == "offload" ? SavePlace::host : SavePlace::recompute;
}

std::string_view print(SavePlace place) {
  switch (place) {
    case SavePlace::recompute:
      return "remat";
    case SavePlace::device:
      return "device";
    case SavePlace::host:
      return "offload";
  }
  throw InternalError("unknown SavePlace");
}

std::map<std::string, SavePlace> read_custom(const GivenArguments& arguments) {
  std::map<std::string, SavePlace> saved;
  for (const auto& row : remat_arguments()) {
    const std::string key(row.key);
    const auto* given = arguments.find(key);
    const SavePlace place =
        given ? parse_place(given->value, given->place) : parse_place(std::string(row.base_default), key);
    if (place != SavePlace::recompute) saved[key] = place;
  }
  return saved;
}

void check_modelled(const std::string& policy, const std::string& place) {
  constexpr std::array known = {"none", "minimal_with_quantization", "minimal_with_context_and_quantization"};
  for (const auto* name : known)
    if (policy == name) throw InputError(fmt::format("{}: shardplan does not model this policy yet", place));
}

}  // namespace

Remat read_remat(const GivenArguments& arguments) {
  const auto* given = arguments.find("remat_policy");
  const std::string policy = given ? given->value : Remat{}.policy;
  if (policy == "custom") return {policy, read_custom(arguments)};
  if (given) check_modelled(policy, given->place);
  return {policy, saved_by_policy(policy)};
}

std::vector<std::pair<std::string, std::string>> remat_as_arguments(const Remat& remat) {
  if (remat.policy == Remat{}.policy) return {};
  std::vector<std::pair<std::string, std::string>> printed = {{"remat_policy", remat.policy}};
  if (remat.policy != "custom") return printed;
  for (const auto& row : remat_arguments()) {
    const auto found = remat.saved.find(std::string(row.key));
    const auto place = print(found == remat.saved.end() ? SavePlace::recompute : found->second);
    if (place != row.base_default) printed.emplace_back(row.key, place);
  }
  return printed;
}

}  // namespace shardplan
