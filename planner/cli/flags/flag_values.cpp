#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <arguments/words/argument_values.hpp>
#include <hardware/machine_names.hpp>
#include <limits>
#include <models/model_names.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

int as_int(const std::string& flag, const std::string& text, std::int64_t value) {
  constexpr int most = std::numeric_limits<int>::max();
  if (value > most) throw InputError(fmt::format("{}: {} is more than {}", flag, text, most));
  return static_cast<int>(value);
}

std::int64_t at_least_one(const std::string& flag, const std::string& text, std::int64_t value) {
  if (value < 1) throw InputError(fmt::format("{}: expected at least 1, not {}", flag, text));
  return value;
}

/// A number of at least 0, and what stands behind it.
std::pair<double, std::string_view> split_unit(std::string_view text) {
  double number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return {-1, text};
  return {number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

/// Factors behind k, M, G and T, with or without i.
double power_of(double base, std::string_view letter) {
  const auto power = std::string_view("kMGT").find(letter == "K" ? "k" : letter);
  return letter.size() == 1 && power != std::string_view::npos ? std::pow(base, static_cast<double>(power + 1)) : 0;
}

void check_countable(const std::string& flag, const std::string& text, double value) {
  constexpr double most = 9e18;
  if (value > most) throw InputError(fmt::format("{}: {} is more than can be counted, 9 x 10^18", flag, text));
}

}  // namespace

std::int64_t parse_count(const std::string& flag, const std::string& text) {
  const auto [number, unit] = split_unit(text);
  const double factor = power_of(1024, unit);
  if (number >= 0 && factor == 0 && !unit.empty())
    throw InputError(
        fmt::format("{}: expected a whole number, alone or with k, M, G or T (powers of 1024), not '{}'", flag, text));
  if (factor == 0) return at_least_one(flag, text, parse_integer(text, flag));
  const double value = number * factor;
  check_countable(flag, text, value);
  if (number < 0 || value != std::floor(value))
    throw InputError(fmt::format("{}: expected a whole number, such as 4096, 4k or 4M, not '{}'", flag, text));
  return at_least_one(flag, text, static_cast<std::int64_t>(value));
}

std::int64_t parse_token_budget(const std::string& flag, const std::string& text) {
  const auto [number, written] = split_unit(text);
  std::string unit(written);
  if (unit.size() == 1) unit[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])));
  const double factor = unit.empty() ? 1 : power_of(1000, unit == "B" ? "G" : unit);
  const double value = std::round(number * factor);
  const bool is_whole = std::abs(number * factor - value) < 1e-6 * value;
  if (factor > 0) check_countable(flag, text, value);
  if (number <= 0 || factor == 0 || value < 1 || !is_whole)
    throw InputError(fmt::format("{}: expected a number of tokens, such as 15T, 300B or 1.4T, not '{}'", flag, text));
  constexpr double least = 1e6;  // a few steps of the smallest run: a unit was forgotten, or is too small
  if (value < least)
    throw InputError(
        fmt::format("{}: at least 1M tokens, not {}; training takes billions or trillions: 300B, 15T", flag, text));
  return static_cast<std::int64_t>(value);
}

Seconds parse_duration(const std::string& flag, const std::string& text) {
  constexpr std::pair<std::string_view, double> units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
  const auto [number, unit] = split_unit(text);
  for (const auto& [name, seconds] : units)
    if (unit == name && number > 0 && number < 1e9) return {number * seconds};
  throw InputError(fmt::format("{}: expected a time, such as 30s, 12h or 60d, not '{}'", flag, text));
}

std::pair<int, std::optional<int>> parse_count_range(const std::string& flag, const std::string& text) {
  const auto dots = text.find("..");
  const auto dash = text.find('-');
  if (dots == text.npos && dash != text.npos && dash > 0)
    throw InputError(fmt::format("{}: expected a number, or a range as 8..64, not '{}'", flag, text));
  const int from = as_int(flag, text, parse_count(flag, text.substr(0, dots)));
  if (dots == text.npos) return {from, std::nullopt};
  const int to = as_int(flag, text, parse_count(flag, text.substr(dots + 2)));
  if (to < from) throw InputError(fmt::format("{}: {} ends before it begins", flag, text));
  return {from, to};
}

std::optional<int> parse_small_count(const std::string& flag, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return as_int(flag, *text, parse_count(flag, *text));
}

Bytes parse_size(const std::string& flag, const std::string& text) {
  const auto [number, unit] = split_unit(text);
  double factor = unit.empty() || unit == "B" ? 1 : 0;
  if (unit.ends_with("iB")) factor = power_of(1024, unit.substr(0, unit.size() - 2));
  if (factor == 0 && unit.ends_with('B')) factor = power_of(1000, unit.substr(0, unit.size() - 1));
  if (number >= 0 && factor > 0 && number * factor < 9e18) return {static_cast<std::int64_t>(number * factor)};
  throw InputError(fmt::format("{} {}: expected a size, such as 1MiB, 500kB or 4096", flag, text));
}

Bytes parse_memory(const std::string& flag, const std::string& text) {
  if (text.ends_with('B')) return parse_size(flag, text);
  throw InputError(fmt::format("{} {}: expected an amount of memory with its unit, such as 4GiB", flag, text));
}

double parse_percentage(const std::string& flag, const std::string& text) {
  const auto [number, unit] = split_unit(text);
  if (number >= 0 && number < 1e15 && unit == "%") return number / 100;
  throw InputError(fmt::format("{} {}: expected a percentage, such as 5%", flag, text));
}

int parse_positive(const std::string& flag, const std::string& text) {
  return as_int(flag, text, at_least_one(flag, text, parse_integer(text, flag)));
}

std::optional<int> parse_positive(const std::string& flag, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return parse_positive(flag, *text);
}

double parse_positive_number(const std::string& flag, const std::string& text) {
  const double value = parse_number(text, flag);
  if (!(value > 0)) throw InputError(fmt::format("{}: expected more than 0, not {}", flag, text));
  return value;
}

double parse_share(const std::string& flag, const std::string& text) {
  const bool percent = text.ends_with('%');
  const double value = parse_number(percent ? text.substr(0, text.size() - 1) : text, flag);
  const double share = percent ? value / 100 : value;
  if (!(share > 0 && share <= 1))
    throw InputError(fmt::format("{}: expected a share above 0 and up to 1, as 0.9 or 90%, not '{}'", flag, text));
  return share;
}

MemoryReserve parse_reserve(const std::string& flag, const std::string& text) {
  if (text.ends_with('B') && !text.starts_with('-')) return {0, parse_size(flag, text)};
  if (text == "0") return {};
  const auto [number, unit] = split_unit(text);
  if (unit == "%" && number == 100) throw InputError(fmt::format("{} {}: leaves nothing to plan with", flag, text));
  if (unit == "%" && number >= 0 && number < 100) return {number / 100, {}};
  throw InputError(fmt::format("{}: expected a share from 0% to less than 100%, or an amount of memory, as 8% or 4GiB, not "
                               "'{}'",
                               flag, text));
}

std::vector<std::string> parse_list(const std::string& flag, const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, end - at);
    if (item.empty()) throw InputError(fmt::format("{}: an empty name in '{}'", flag, text));
    if (std::find(items.begin(), items.end(), item) != items.end())
      throw InputError(fmt::format("{}: '{}' is given twice", flag, item));
    items.push_back(std::move(item));
    at = end + 1;
  }
  return items;
}

std::vector<std::string> parse_list_or_all(const std::string& flag, const std::string& text,
                                           const std::vector<std::string>& all) {
  if (text == "all") return all;
  auto items = parse_list(flag, text);
  if (std::find(items.begin(), items.end(), "all") != items.end())
    throw InputError(fmt::format("{} {}: all stands alone; leave it or the others out", flag, text));
  return items;
}

void check_key_values(const std::vector<std::string>& words, std::string_view yaml_flag) {
  for (const auto& word : words) {
    if (const auto equals = word.find('='); equals != word.npos) {
      if (const auto space = word.find(' '); space < equals)
        throw InputError(fmt::format("'{} …': several words in one: paste a launch without the quotes around it",
                                     word.substr(0, space)));
      continue;
    }
    std::string_view flag;
    if (word.ends_with(".yml") || word.ends_with(".yaml")) flag = yaml_flag;
    if (word.ends_with(".json") || model_called(word)) flag = "--model";
    if (machine_called(word).profile != word || profile_called(word)) flag = "--hardware";
    throw InputError(
        fmt::format("expected KEY=VALUE as MaxText takes it, not '{}'{}", word,
                    flag.empty() ? "" : fmt::format("; a file or name goes behind its flag: {} {}", flag, word)));
  }
}

void check_word(const std::string& flag, const std::string& text, const std::vector<std::string>& valid) {
  if (std::find(valid.begin(), valid.end(), text) == valid.end())
    throw InputError(fmt::format("{}: {}", flag, unknown_name("value", text, valid)));
}

}  // namespace shardplan
