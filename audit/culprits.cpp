#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <audit/culprits.hpp>
#include <span>

namespace shardplan {

std::vector<std::string> heaviest_first(const std::map<std::string, std::int64_t>& bytes_of_tensors) {
  std::vector<std::string> tensors;
  for (const auto& [tensor, bytes] : bytes_of_tensors) tensors.push_back(tensor);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [&](const auto& a, const auto& b) { return bytes_of_tensors.at(a) > bytes_of_tensors.at(b); });
  return tensors;
}

std::string phase_words(const std::set<Phase>& phases) {
  std::string words;
  for (const Phase phase : phases) {
    const std::string_view before = words.empty() ? "" : phase == *phases.rbegin() ? " and " : ", ";
    words += fmt::format("{}{}", before, name_of(phase));
  }
  return words;
}

std::string tensor_words(const std::vector<std::string>& tensors) {
  constexpr std::size_t most_named = 6;
  const auto named = std::span(tensors).first(std::min(most_named, tensors.size()));
  const std::size_t others = tensors.size() - named.size();
  return fmt::format("{}{}", fmt::join(named, ", "), others > 0 ? fmt::format(" and {} more", others) : "");
}

}  // namespace shardplan
