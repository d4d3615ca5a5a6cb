#include <hardware/load_profile.hpp>
#include <models/load_model.hpp>
#include <planner/cli/completion/completed_values.hpp>
#include <planner/cli/completion/key_values.hpp>
#include <planner/cli/flags/remat_flag.hpp>
#include <rules/load_rules.hpp>
#include <span>

namespace shardplan {
namespace {

using Words = std::vector<std::string>;

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words machines() { return with(profile_names(), toy_profile_names()); }

struct NamedWords {
  std::string_view name;
  Words (*words)();
};

/// What the catalogs have, by flag, whatever the command.
constexpr NamedWords flag_words[] = {{"--model", model_names},
                                     {"--hardware", machines},
                                     {"--rules", rule_set_names},
                                     {"--remat", remat_words}};

/// By the command's first word: what its first positional argument, or --like, names.
constexpr NamedWords named_things[] = {{"hardware", machines}, {"models", model_names}, {"rules", rule_set_names}};

Words words_named(std::span<const NamedWords> all, std::string_view name) {
  for (const auto& row : all)
    if (row.name == name) return row.words();
  return {};
}

bool names_something(const CommandDescription& command, const FlagDescription& flag) {
  return flag.names.back() == "--like" || (flag.positional && flag.names.back() == "NAME" && command.subcommand != "init");
}

}  // namespace

CompletedValues values_of(const CommandDescription& command, const FlagDescription& flag) {
  CompletedValues values;
  values.words = flag.values;
  if (values.words.empty()) values.words = words_named(flag_words, flag.names.back());
  if (takes_keys(flag)) values.words = keys_of(command);
  if (names_something(command, flag)) values.words = words_named(named_things, command.word);
  if (flag.type.ends_with("|all")) values.words.emplace_back("all");
  const std::string kind = flag.positional ? flag.names.back() : flag.type;
  values.files = kind.find("FILE") != kind.npos || kind == "RECORD";
  values.keys = takes_keys(flag);
  values.list = flag.type.find("[,...]") != flag.type.npos;
  return values;
}

}  // namespace shardplan
