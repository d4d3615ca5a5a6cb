#include <fmt/format.h>

#include <algorithm>
#include <arguments/words/argument_values.hpp>
#include <arguments/words/config_file.hpp>
#include <arguments/words/given_arguments.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/words/parse_argument.hpp>
#include <arguments/words/readers_value.hpp>
#include <array>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

using Given = std::map<std::string, GivenArgument>;

constexpr std::array rule_keys = {"logical_axis_rules", "override_logical_axis_rules", "mesh_axes", "data_sharding"};

GivenArgument& insert_word(Given& given, const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(fmt::format("expected KEY=VALUE as MaxText takes it, not '{}'", word));
  const std::string key = word.substr(0, equals);
  const auto [row, fresh] = given.emplace(key, GivenArgument{word.substr(equals + 1), word});
  if (!fresh && row->second.text != word.substr(equals + 1))
    throw InputError(fmt::format("{} is given twice: '{}' and '{}'", key, shown_value(key, row->second.text),
                                 shown_value(key, word.substr(equals + 1))));
  return row->second;
}

/// The file that has no model's name of its own, or "".
std::string insert_file(Given& given, const ConfigFile& file) {
  std::string without_model;
  for (const auto& [key, value, path] : file.entries)
    if (value == model_of_command_line)
      without_model = path;
    else
      given.emplace(key, GivenArgument{value, fmt::format("{}: {}={}", path, key, value), true});
  return without_model;
}

// A list in quotation marks or not, a path to base.yml or its name: what counts is whether it says the default.
bool says_default(const UnmodelledArgument& row, const GivenArgument& given) {
  if (row.key == "base_config") return given.text.ends_with(row.base_default);
  return canonical(given.text) == canonical(row.base_default);
}

void check_modelled(const std::string& key, const GivenArgument& given) {
  for (const auto& row : unmodelled_arguments())
    if (row.key == key && !says_default(row, given))
      throw InputError(fmt::format("{}: shardplan does not model {} yet ({}): leave it at {}", given.place, key, row.what,
                                   row.base_default.empty() ? "its default, nothing" : row.base_default));
}

/// Values go on into commands and files that are printed. Rules are read as the YAML that they are, and written anew.
void check_is_a_line(const std::string& key, const GivenArgument& given) {
  const bool rules = std::find(rule_keys.begin(), rule_keys.end(), key) != rule_keys.end();
  if (!rules && has_control_characters(given.text))
    throw InputError(fmt::format("{}: expected one line without control characters", given.place));
}

/// A place ends in what was said.
void hide_credential(const std::string& key, GivenArgument& given) {
  const std::string shown = shown_value(key, given.text);
  given.place.replace(given.place.size() - given.text.size(), std::string::npos, shown);
  given.text = shown;
}

/// Errors of the table don't know where a key stands; in a file that has to be said.
void read_value(const std::string& key, GivenArgument& given) try {
  hide_credential(key, given);
  check_is_a_line(key, given);
  given.value = parse_argument(key, given.text, given.place);
  if (role_of(key) == ArgumentRole::unmodelled) check_modelled(key, given);
} catch (const InputError& error) {
  if (!given.in_file || std::string_view(error.what()).starts_with(given.place)) throw;
  throw InputError(fmt::format("{}: {}", given.place, error.what()));
}

/// The words of the command line as the YAML document that a file would be.
ModelRules changes_on_command_line(const Given& given) {
  std::string document;
  for (const char* key : rule_keys)
    if (const auto found = given.find(key); found != given.end() && !found->second.in_file)
      document += fmt::format("{}: {}\n", key, found->second.text);
  return document.empty() ? ModelRules{} : parse_rule_changes(document, "arguments");
}

}  // namespace

GivenArguments::GivenArguments(std::span<const std::string> key_values,
                               const std::optional<std::string>& config_file) {
  for (const auto& word : key_values) insert_word(given_, word);
  if (config_file) {
    ConfigFile file = read_config_file(*config_file);
    file_without_model_ = insert_file(given_, file);
    rules_in_file_ = std::move(file.rules);
    rules_path_ = std::move(file.rules_path);
  }
  for (auto& [key, argument] : given_) read_value(key, argument);
  rules_on_command_line_ = changes_on_command_line(given_);
}

void GivenArguments::add(const std::string& word) {
  GivenArgument& given = insert_word(given_, word);
  read_value(word.substr(0, word.find('=')), given);
}

const GivenArgument* GivenArguments::find(const std::string& key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second;
}

bool GivenArguments::flag(const std::string& key, bool otherwise) const {
  const auto* given = value<bool>(key);
  return given ? *given : otherwise;
}

std::optional<std::int64_t> GivenArguments::integer(const std::string& key) const {
  const auto* given = value<std::int64_t>(key);
  return given ? std::optional(*given) : std::nullopt;
}

std::string GivenArguments::text(const std::string& key, std::string otherwise) const {
  const auto* given = value<std::string>(key);
  return given ? *given : otherwise;
}

}  // namespace shardplan
