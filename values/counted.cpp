#include <fmt/format.h>

#include <cmath>
#include <shardplan/collective/counted.hpp>

namespace shardplan {

std::string plural_of(std::string_view noun) {
  const std::string name(noun);
  if (noun.ends_with("axis")) return name.substr(0, name.size() - 2) + "es";
  for (const char* end : {"s", "sh", "ch", "x"})
    if (noun.ends_with(end)) return name + "es";
  return name + "s";
}

std::string noun_for(std::int64_t count, std::string_view noun) {
  return count == 1 ? std::string(noun) : plural_of(noun);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return with_separators(count) + " " + noun_for(count, noun);
}

std::string counted(double count, std::string_view noun) {
  if (count == std::floor(count) && std::abs(count) < 1e15) return counted(static_cast<std::int64_t>(count), noun);
  return fmt::format("{:g} {}", count, plural_of(noun));
}

std::string with_separators(std::int64_t count) {
  const std::string digits = std::to_string(count < 0 ? -count : count);
  std::string text = count < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace shardplan
