#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <shardplan/error.hpp>

namespace shardplan {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

namespace {

/// A name that only starts with, or continues, what was typed is nearer than its length suggests.
std::size_t unlikeness(std::string_view wrong, std::string_view name) {
  const bool prefix = !wrong.empty() && (name.starts_with(wrong) || wrong.starts_with(name));
  return prefix ? 1 : edit_distance(wrong, name);
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string> valid, std::size_t most) {
  const std::size_t limit = std::max<std::size_t>(3, wrong.size() / 2);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& name : valid)
    if (const auto distance = unlikeness(wrong, name); distance <= limit) ranked.emplace_back(distance, name);
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

std::string unknown_name(std::string_view kind, std::string_view wrong, std::span<const std::string> valid) {
  const auto nearest = nearest_names(wrong, valid);
  if (!nearest.empty()) return fmt::format("unknown {} '{}'; nearest: {}", kind, wrong, fmt::join(nearest, ", "));
  if (valid.size() <= 12) return fmt::format("unknown {} '{}'; known: {}", kind, wrong, fmt::join(valid, ", "));
  return fmt::format("unknown {} '{}'", kind, wrong);
}

}  // namespace shardplan
