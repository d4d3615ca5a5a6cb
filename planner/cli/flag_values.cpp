#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <arguments/words/argument_values.hpp>
#include <planner/cli/flag_values.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::int64_t parse_positive_long(const std::string& flag, const std::string& text) {
  const std::int64_t value = parse_integer(text, flag);
  if (value < 1) throw InputError(fmt::format("{}: expected at least 1, not {}", flag, text));
  return value;
}

int parse_positive(const std::string& flag, const std::string& text) {
  const std::int64_t value = parse_positive_long(flag, text);
  if (value > std::numeric_limits<int>::max())
    throw InputError(fmt::format("{}: {} is more than {}", flag, text, std::numeric_limits<int>::max()));
  return static_cast<int>(value);
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
  constexpr std::array<std::pair<std::string_view, double>, 4> units = {
      {{"GiB", 1024.0 * 1024 * 1024}, {"MiB", 1024.0 * 1024}, {"GB", 1e9}, {"MB", 1e6}}};
  for (const auto& [unit, bytes] : units)
    if (text.ends_with(unit)) {
      const double value = parse_number(text.substr(0, text.size() - unit.size()), flag);
      if (value < 0) break;
      return {0, Bytes{std::llround(value * bytes)}};
    }
  if (text.ends_with('%') && text != "0%") return {parse_share(flag, text), {}};
  if (text == "0" || text == "0%") return {};
  throw InputError(fmt::format("{}: expected a share or an amount of memory, as 8% or 4GiB, not '{}'", flag, text));
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

void check_word(const std::string& flag, const std::string& text, const std::vector<std::string>& valid) {
  if (std::find(valid.begin(), valid.end(), text) == valid.end())
    throw InputError(fmt::format("{}: {}", flag, unknown_name("value", text, valid)));
}

}  // namespace shardplan
