#include <algorithm>
#include <cmath>
#include <numeric>
#include <planner/report/part_bar.hpp>

namespace shardplan {
namespace {

double sum(const std::vector<BarPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double total, const BarPart& part) { return total + part.amount; });
}

// Each part ends where the running total does, so that the letters add up to the share of the whole.
std::vector<std::size_t> letters_of(const std::vector<BarPart>& parts, double whole, std::size_t length) {
  std::vector<std::size_t> letters;
  double running = 0;
  std::size_t drawn = 0;
  for (const auto& part : parts) {
    running += part.amount;
    const auto end = static_cast<std::size_t>(std::lround(running / whole * static_cast<double>(length)));
    letters.push_back(std::min(end, length) - drawn);
    drawn = std::min(end, length);
  }
  return letters;
}

}  // namespace

std::string print_bar(const std::vector<BarPart>& parts, double whole, std::size_t length, const Style& style) {
  const double total = std::max(whole, sum(parts));
  if (!(total > 0)) return "[" + std::string(length, '.') + "]";
  const auto letters = letters_of(parts, total, length);
  std::string bar = "[";
  for (std::size_t i = 0; i < parts.size(); ++i)
    bar += style.paint(parts[i].ink, std::string(letters[i], parts[i].letter));
  return bar + std::string(length - std::accumulate(letters.begin(), letters.end(), std::size_t{0}), '.') + "]";
}

std::string print_legend(const std::vector<BarPart>& parts, std::size_t width, std::size_t indent, const Style& style) {
  const std::string margin(indent, ' ');
  std::string text, line;
  for (const auto& part : parts) {
    if (part.amount == 0) continue;
    const std::string entry = style.paint(part.ink, std::string(1, part.letter)) + " " + part.label;
    if (!line.empty() && indent + display_width(line) + 3 + display_width(entry) > width) {
      text += margin + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + entry;
  }
  return line.empty() ? text : text + margin + line + "\n";
}

}  // namespace shardplan
