#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <numeric>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>
#include <utility>

namespace shardplan {
namespace {

std::string without_ends(const std::string& message) {
  std::string text;
  for (const char c : message) text += c == '\0' ? std::string("\\x00") : std::string(1, c);
  return text;
}

}  // namespace

InputError::InputError(const std::string& message) : std::runtime_error(without_ends(message)) {}

/// Letters to substitute, insert or leave out; two neighbours that changed places count once (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

namespace {

bool is_synonym(std::string_view name, const std::vector<std::string_view>& meant) {
  return std::any_of(meant.begin(), meant.end(),
                     [&](std::string_view word) { return same_spelling(word) == same_spelling(name); });
}

/// How far a name is from what was typed: lower is nearer, and of two as far the one with fewer edits.
struct Unlikeness {
  std::size_t rank = 0, edits = 0;
  auto operator<=>(const Unlikeness&) const = default;
};

/// Names as long as flags with their dashes may differ in a letter, longer ones in a third of them.
std::size_t furthest(std::string_view wrong) {
  const auto dashes = std::min(wrong.find_first_not_of('-'), wrong.size());
  return std::max<std::size_t>(1, (wrong.size() - dashes) / 3);
}

/// What other tools call a name is that name, and so is another spelling of it. What was typed and breaks off is as near
/// as one slip of the fingers, however much is missing. A name that was typed and gone on from is always near enough, but
/// by its edits: 'embed_voca' is 'embed_vocab' rather than 'embed'.
Unlikeness unlikeness(std::string_view wrong, std::string_view name, const std::vector<std::string_view>& meant) {
  if (is_synonym(name, meant) || (!same_spelling(wrong).empty() && same_spelling(wrong) == same_spelling(name))) return {};
  const std::size_t edits = edit_distance(wrong, name);
  if (wrong.empty()) return {edits, edits};
  if (name.starts_with(wrong)) return {1, edits};
  return {!name.empty() && wrong.starts_with(name) ? std::min(edits, furthest(wrong)) : edits, edits};
}

/// So many names fit an error message.
constexpr std::size_t most_listed = 16;

std::vector<std::string> nearest_whole_names(std::string_view wrong, std::span<const std::string> valid, std::size_t most) {
  const auto meant = synonyms_of(wrong);
  std::vector<std::pair<Unlikeness, std::string>> ranked;
  for (const auto& name : valid)
    if (const auto distance = unlikeness(wrong, name, meant); distance.rank <= furthest(wrong))
      ranked.emplace_back(distance, name);
  std::sort(ranked.begin(), ranked.end());
  if (!ranked.empty() && ranked.front().first.rank == 0)  // what was meant is known
    std::erase_if(ranked, [](const auto& one) { return one.first.rank > 0; });
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

/// Those of which the first part alone was typed, nearly: "mixtral-8x7b" for "mixtrl".
std::vector<std::string> nearest_families(std::string_view wrong, std::span<const std::string> valid, std::size_t most) {
  constexpr std::size_t shortest = 4;  // letters
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& name : valid)
    if (const auto dash = name.find('-'); dash != name.npos && dash >= shortest)
      if (const auto distance = edit_distance(wrong, name.substr(0, dash)); distance <= furthest(wrong))
        ranked.emplace_back(distance, name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string> valid, std::size_t most) {
  auto nearest = nearest_whole_names(wrong, valid, most);
  return nearest.empty() ? nearest_families(wrong, valid, most) : nearest;
}

std::string unknown_name(std::string_view kind, std::string_view wrong, std::span<const std::string> valid,
                         std::string_view listed_by) {
  const auto nearest = nearest_names(wrong, valid);
  if (!nearest.empty()) return fmt::format("unknown {} '{}'; nearest: {}", kind, wrong, fmt::join(nearest, ", "));
  if (valid.size() <= most_listed) return fmt::format("unknown {} '{}'; known: {}", kind, wrong, fmt::join(valid, ", "));
  if (!listed_by.empty()) return fmt::format("unknown {} '{}'; `{}` names them", kind, wrong, listed_by);
  return fmt::format("unknown {} '{}'", kind, wrong);
}

}  // namespace shardplan
