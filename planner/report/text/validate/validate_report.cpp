#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/validate_report.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

constexpr std::size_t groups_told = 3;

/// "+1.2%"; "0.0%" where the sign would be noise.
std::string signed_share(double share) {
  return std::abs(share) < 0.0005 ? print_share(0) : fmt::format("{:+.1f}%", share * 100);
}

std::string group_text(const GroupDifference& group) {
  return fmt::format("{}: {} predicted, {} recorded", group.group, print_traffic(group.predicted),
                     print_traffic(group.recorded));
}

void add_score(TextTable& table, const RecordScore& score) {
  if (score.failure) return table.add_spanning({score.id}, "no prediction: " + *score.failure);
  if (score.refused_too)
    return table.add_spanning({score.id},
                              *score.refused_too ? "out of memory, as predicted" : "out of memory, predicted to fit");
  table.add({score.id, print_share(score.collectives), print_share(score.phases), signed_share(score.memory),
             signed_share(score.arguments)});
  for (std::size_t i = 0; i < std::min(groups_told, score.worst.size()); ++i)
    table.add_spanning({}, "  " + group_text(score.worst[i]));
}

/// Of none there are no errors.
std::string summary_line(const ScoreSummary& s) {
  std::vector<std::string> parts = {fmt::format("{} of {} programs scored", s.scored, s.programs)};
  if (s.scored > 0) {
    parts.push_back(fmt::format("collectives: median error {}, within 5%: {}/{}", print_share(s.median_collectives),
                                s.within_5_percent, s.programs));
    parts.push_back(
        fmt::format("memory: mean |error| {}, worst {}", print_share(s.mean_memory), print_share(s.worst_memory)));
  }
  if (s.refused > 0) parts.push_back(fmt::format("out of memory called right: {}/{}", s.refused_too, s.refused));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string validation_text(const Validation& validation, const Style& style) {
  TextTable table({{"program", Align::left, true},
                   {"collectives", Align::right},
                   {"phases", Align::right, false, 1},
                   {"peak memory", Align::right},
                   {"arguments", Align::right, false, 2}});
  for (const auto& score : validation.scores) add_score(table, score);
  return table.print(style.width()) + "\n" +
         wrap_text(style.paint(Ink::bold, summary_line(validation.summary)), "", style.width());
}

}  // namespace shardplan
