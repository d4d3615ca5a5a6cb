// The sections about collectives and findings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/report/collective_groups.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <planner/words/collective_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string place_text(const CollectiveGroup& group) {
  if (group.operations.empty()) return group.module;
  return fmt::format("{}: {}", group.module, fmt::join(group.operations, ", "));
}

std::vector<std::string> cells_of(std::string kind, std::string axes, std::string place, const CollectiveGroup& group) {
  return {std::move(kind),
          std::move(axes),
          std::move(place),
          print_count(group.executions),
          print_traffic(group.bytes),
          print_time(group.seconds)};
}

std::string traffic_title(const Evaluation& evaluation, const Style& style) {
  const CollectiveGroup all = sum_of(group_collectives(evaluation), 0);
  return wrap_text(fmt::format("{} a step and device, {} if nothing overlapped", print_traffic(all.bytes),
                               print_time(all.seconds)),
                   style.paint(Ink::bold, "collectives") + "  ", style.width());
}

std::string finding_text(const Finding& finding, const Style& style) {
  const std::string first = fmt::format("  {} {}: ", style.paint(ink_of(finding.severity), name_of(finding.severity)),
                                        style.paint(Ink::bold, published_id(finding)));
  std::string place = finding.where;
  if (!finding.axes.empty()) place += fmt::format("{}axis {}", place.empty() ? "" : ", ", join_axes(finding.axes));
  std::string text = finding.message + (place.empty() ? "" : fmt::format(" ({})", place));
  if (!finding.fix.empty()) text += fmt::format("; fix: {}", finding.fix);
  return wrap_text(first + text, "  ", style.width());
}

std::string phase_text(const Evaluation& evaluation, Phase phase, const Style& style) {
  TextTable table({{"kind"},
                   {"axes"},
                   {"devices", Align::right, false, 4},
                   {"where", Align::left, true, 1},
                   {"bytes", Align::right, false, 2},
                   {"times", Align::right, false, 3},
                   {"a step", Align::right},
                   {"time", Align::right}});
  for (const auto& one : named_collectives(evaluation)) {
    if (one.phase != phase) continue;
    table.add({style.paint(Ink::bold, name_of(one.kind)), axes_text(one.axes, evaluation.mesh),
               print_count(one.group_size), one.op, print_traffic(one.bytes), print_count(one.executions),
               print_traffic(one.moved()), print_time(one.seconds)});
    table.add_spanning({}, one.why);
  }
  return table.empty() ? "" : style.paint(Ink::cyan, name_of(phase)) + "\n" + table.print(style.width(), 2);
}

}  // namespace

std::string grouped_collectives_section(const Evaluation& evaluation, const Style& style, std::size_t most) {
  const auto groups = group_collectives(evaluation);
  if (groups.empty()) return style.paint(Ink::bold, "collectives") + "  none\n";
  TextTable table({{"kind", Align::left, true},
                   {"axes", Align::left, true},
                   {"where", Align::left, true},
                   {"times", Align::right, false, 2},
                   {"bytes", Align::right, false, 1},
                   {"time", Align::right}});
  // A table of one line more shows the last group rather than "1 other".
  const std::size_t shown = groups.size() <= most + 1 ? groups.size() : most;
  for (std::size_t i = 0; i < shown; ++i)
    table.add(cells_of(std::string(name_of(groups[i].kind)), axes_text(groups[i].axes, evaluation.mesh),
                       place_text(groups[i]), groups[i]));
  if (shown < groups.size())
    table.add(
        cells_of("others", "", fmt::format("{} more kinds and places", groups.size() - shown), sum_of(groups, shown)));
  return traffic_title(evaluation, style) + table.print(style.width(), 2);
}

std::string all_collectives_section(const Evaluation& evaluation, const Style& style) {
  if (evaluation.collectives.empty()) return style.paint(Ink::bold, "collectives") + "  none\n";
  std::string text = traffic_title(evaluation, style);
  for (const Phase phase : {Phase::forward, Phase::rematerialized_forward, Phase::backward, Phase::optimizer})
    text += phase_text(evaluation, phase, style);
  return text;
}

std::string findings_section(const Evaluation& evaluation, const Style& style, std::size_t most) {
  if (evaluation.findings.empty()) return "";
  std::vector<Finding> findings = evaluation.findings;
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  std::string text = style.paint(Ink::bold, "findings") + "\n";
  for (std::size_t i = 0; i < std::min(most, findings.size()); ++i) text += finding_text(findings[i], style);
  if (findings.size() > most)
    text += fmt::format("  and {} more (--format json has all of them)\n", findings.size() - most);
  return text;
}

}  // namespace shardplan
