#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/settings/remat_arguments.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/remat_flag.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view custom = "custom";

/// MaxText leaves places alone under every other policy, without a word.
void refuse_places(const GivenArguments& given) {
  for (const auto& [key, argument] : given.all())
    if (role_of(key) == ArgumentRole::remat)
      throw InputError(fmt::format("{}: only a custom policy reads it: add remat_policy=custom, or --remat custom,… to try "
                                   "it beside others",
                                   argument.place));
}

std::vector<std::string> names_to_try(const std::optional<std::string>& flag, const GivenArguments& given,
                                      std::string_view command) {
  const GivenArgument* policy = given.find("remat_policy");
  if (policy && given.text("remat_policy", "") != custom)
    throw InputError(fmt::format("{}: {} takes --remat for it", policy->place, command));
  if (policy && flag)
    throw InputError(fmt::format("{}: is the one policy that is searched; leave it out, and give --remat custom,… to try it "
                                 "beside others",
                                 policy->place));
  if (policy) return {std::string(custom)};
  return flag ? parse_list_or_all("--remat", *flag, remat_policies()) : remat_policies();
}

}  // namespace

std::vector<std::string> remat_words() {
  std::vector<std::string> words = remat_policies();
  words.emplace_back(custom);
  return words;
}

std::vector<RematPolicy> read_remat_policies(const std::optional<std::string>& flag, const GivenArguments& given,
                                             std::string_view command) {
  std::vector<std::string> names = names_to_try(flag, given, command);
  if (std::erase(names, custom) == 0) {
    refuse_places(given);
    return named_remat_policies(names);
  }
  std::vector<RematPolicy> policies = named_remat_policies(names);
  policies.push_back(custom_remat_policy(given));
  return policies;
}

}  // namespace shardplan
