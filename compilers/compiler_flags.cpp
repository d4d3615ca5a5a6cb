#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <compilers/compiler_flags.hpp>
#include <cstdint>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>
#include <sstream>

namespace shardplan {
namespace {

constexpr std::size_t misspelling = 2;  // characters

struct GivenFlag {
  std::string name, value;
};

GivenFlag parse_flag(const std::string& word) {
  const auto equals = word.find('=');
  const std::size_t end = std::min(equals, word.size());
  if (!word.starts_with("--") || end == 2)
    throw InputError(fmt::format("XLA flags: '{}': expected --NAME=VALUE, recipe, or none alone", word));
  return {word.substr(2, end - 2), equals == std::string::npos ? "true" : word.substr(equals + 1)};
}

/// XLA reads true, True and 1 alike.
std::string canonical(std::string_view given) {
  const std::string value = lower_case(given);
  if (value == "1") return "true";
  return value == "0" ? "false" : value;
}

bool is_default(const KnownFlag& known, const std::string& value) {
  return known.default_value && (value == *known.default_value || canonical(value) == canonical(*known.default_value));
}

/// ..._2d_... and ..._3d_... are two flags, not one misspelled.
std::string without_digits(std::string name) {
  std::erase_if(name, [](unsigned char c) { return std::isdigit(c) != 0; });
  return name;
}

void check_spelling(const std::string& name, const FlagTable& table) {
  for (const auto& [known, row] : table)
    if (edit_distance(name, known) <= misspelling && without_digits(name) != without_digits(known))
      throw InputError(fmt::format("XLA flags: unknown flag '--{}'; nearest: --{}", name, known));
}

/// XLA keeps what it multiplies with a unit in 64 bits, too.
constexpr std::int64_t largest_number = std::int64_t{1} << 48;

std::int64_t number_of(const GivenFlag& given, const KnownFlag& known) {
  const std::int64_t largest = known.at_most.value_or(largest_number);
  const char* const end = given.value.data() + given.value.size();
  std::int64_t number = 0;
  const auto [read, error] = std::from_chars(given.value.data(), end, number);
  if (error != std::errc{} || read != end || number < 0 || number > largest)
    throw InputError(fmt::format("XLA flags: --{} takes a whole number from 0 to {}, not '{}'", given.name, largest,
                                 given.value));
  return number;
}

/// Of a flag that is on or off.
void check_boolean(const GivenFlag& given) {
  const std::string value = canonical(given.value);
  if (value != "true" && value != "false")
    throw InputError(fmt::format("XLA flags: --{} takes true or false, not '{}'", given.name, given.value));
}

bool is_switch(const KnownFlag& known) {
  return known.default_value == "true" || known.default_value == "false";
}

FlagChange change_of(const GivenFlag& given, const KnownFlag& known) {
  if (!known.takes_number()) check_boolean(given);
  FlagChange change;
  change.switches = known.switches;
  change.host_copies = known.host_copies;
  change.window_covers_gather = known.window_covers_gather;
  change.asynchronous = known.asynchronous;
  change.pipelined = known.pipelined;
  change.on = canonical(given.value) == "true";
  if (known.sets) change.setting.emplace(*known.sets, known.unit * number_of(given, known));
  if (known.sets_power_state) change.power_state = static_cast<int>(number_of(given, known));
  return change;
}

bool is_enough(const GivenFlag& given, const KnownFlag& known) {
  return !known.at_least || number_of(given, known) >= *known.at_least;
}

bool is_foreign(const std::string& name, const std::vector<std::string>& foreign) {
  return std::any_of(foreign.begin(), foreign.end(), [&](const std::string& prefix) { return name.starts_with(prefix); });
}

CompilerFlag judged(const GivenFlag& given, const FlagTable& table, const std::vector<std::string>& foreign) {
  const auto row = table.find(given.name);
  if (row == table.end()) {
    if (is_foreign(given.name, foreign)) return {given.name, given.value, FlagEffect::foreign, "", {}};
    check_spelling(given.name, table);
    return {given.name, given.value, FlagEffect::unknown, "", {}};
  }
  const KnownFlag& known = row->second;
  if (is_switch(known)) check_boolean(given);
  if (is_default(known, given.value))
    return {given.name, given.value, FlagEffect::none, "the compiler's default", {}};
  if (!is_enough(given, known))
    return {given.name, given.value, FlagEffect::not_modelled,
            fmt::format("{}; modelled from {} on", known.does, *known.at_least), {}};
  const bool modelled = known.effect == FlagEffect::modelled;
  return {given.name, given.value, known.effect, known.does, modelled ? change_of(given, known) : FlagChange{}};
}

bool is_on(const std::map<std::string, CompilerFlag>& flags, const std::string& name) {
  const auto found = flags.find(name);
  return found != flags.end() && canonical(found->second.value) == "true";
}

void check_needs(const std::map<std::string, CompilerFlag>& flags, const FlagTable& table) {
  for (const auto& [name, flag] : flags) {
    const auto row = table.find(name);
    if (row == table.end() || !row->second.needs || is_default(row->second, flag.value)) continue;
    if (!is_on(flags, *row->second.needs))
      throw InputError(fmt::format("XLA flags: --{} needs --{}=true beside it: the compiler stops without", name,
                                   *row->second.needs));
  }
}

}  // namespace

CompilerFlag read_flag(const std::string& word, const FlagTable& table, const std::vector<std::string>& foreign) {
  return judged(parse_flag(word), table, foreign);
}

Compiler with_flags(const Compiler& compiler, const FlagTable& table, std::string_view flags) {
  if (flags == no_flags) return with_flags(compiler, {});
  std::map<std::string, CompilerFlag> last;
  std::istringstream words{std::string(flags)};
  for (std::string word; words >> word;) {
    if (word == recipe_flags) {
      for (const OfferedFlag& offered : compiler.offered) last.insert_or_assign(offered.flag.name, offered.flag);
      continue;
    }
    CompilerFlag flag = read_flag(word, table, compiler.foreign_flags);
    last.insert_or_assign(flag.name, std::move(flag));
  }
  check_needs(last, table);
  std::vector<CompilerFlag> given;
  for (auto& [name, flag] : last) given.push_back(std::move(flag));
  return with_flags(compiler, std::move(given));
}

}  // namespace shardplan
