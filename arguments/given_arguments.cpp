#include <fmt/format.h>

#include <arguments/keys/argument_table.hpp>
#include <arguments/argument_values.hpp>
#include <arguments/config_file.hpp>
#include <arguments/given_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Given = std::map<std::string, GivenArgument>;

void insert_word(Given& given, const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(fmt::format("expected KEY=VALUE as MaxText takes it, not '{}'", word));
  const std::string key = word.substr(0, equals);
  const auto [row, fresh] = given.emplace(key, GivenArgument{word.substr(equals + 1), word, false});
  if (!fresh)
    throw InputError(fmt::format("{} is given twice: '{}' and '{}'", key, row->second.value, word.substr(equals + 1)));
}

void insert_file(Given& given, const std::string& path) {
  for (const auto& [key, value] : read_config_file(path))
    given.emplace(key, GivenArgument{value, fmt::format("{}: {}={}", path, key, value), true});
}

// A list in quotation marks or not, a path to base.yml or its name: what counts is whether it says the default.
bool says_default(const UnmodelledArgument& row, const GivenArgument& given) {
  if (row.key == "base_config") return given.value.ends_with(row.base_default);
  return canonical(given.value) == canonical(row.base_default);
}

void check_modelled(const std::string& key, const GivenArgument& given) {
  for (const auto& row : unmodelled_arguments())
    if (row.key == key && !says_default(row, given))
      throw InputError(fmt::format("{}: shardplan does not model {} yet ({})", given.place, key, row.what));
}

void check_key(const std::string& key, const GivenArgument& given) try {
  if (role_of(key) == ArgumentRole::unmodelled) check_modelled(key, given);
} catch (const InputError& error) {
  if (!given.in_file || std::string_view(error.what()).starts_with(given.place)) throw;
  throw InputError(fmt::format("{}: {}", given.place, error.what()));
}

}  // namespace

GivenArguments::GivenArguments(std::span<const std::string> key_values, const std::optional<std::string>& config_file)
    : config_file_(config_file) {
  for (const auto& word : key_values) insert_word(given_, word);
  if (config_file) insert_file(given_, *config_file);
  for (const auto& [key, argument] : given_) check_key(key, argument);
}

const GivenArgument* GivenArguments::find(const std::string& key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second;
}

bool GivenArguments::flag(const std::string& key, bool otherwise) const {
  const auto* argument = find(key);
  return argument ? parse_flag(argument->value, argument->place) : otherwise;
}

std::optional<std::int64_t> GivenArguments::integer(const std::string& key) const {
  const auto* argument = find(key);
  if (!argument) return std::nullopt;
  return parse_integer(argument->value, argument->place);
}

std::string GivenArguments::text(const std::string& key, std::string otherwise) const {
  const auto* argument = find(key);
  return argument ? argument->value : otherwise;
}

}  // namespace shardplan
