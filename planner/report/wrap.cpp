#include <algorithm>
#include <planner/report/wrap.hpp>
#include <vector>

namespace shardplan {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::string wrap_text(const std::string& text, const std::string& first, std::size_t width) {
  const std::string margin(display_width(first), ' ');
  std::string lines, line = first;
  bool fresh = true;
  for (const auto& word : words_of(text)) {
    if (!fresh && display_width(line) + 1 + display_width(word) > width) {
      lines += line + "\n";
      line = margin;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return lines + line + "\n";
}

}  // namespace shardplan
