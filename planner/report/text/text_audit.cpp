#include <fmt/format.h>

#include <cmath>
#include <planner/report/audit_report.hpp>
#include <planner/report/words/audit_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/text/text_timeline.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string signed_time(double seconds) {
  if (std::abs(seconds) < 1e-6) return "";
  return (seconds < 0 ? "-" : "+") + print_time({seconds < 0 ? -seconds : seconds});
}

std::string verdict_line(const AuditAnswer& answer, const Style& style) {
  std::string scope = "mesh " + describe(answer.mesh);
  if (!answer.against.empty()) scope = "against " + answer.against + "; " + scope;
  if (!answer.hardware.empty()) scope += "; priced on " + answer.hardware;
  const std::string verdict =
      style.paint(answer.is_regression() ? Ink::red : Ink::green, verdict_of(answer));
  const std::string title = fmt::format("{}: {}", style.paint(Ink::bold, answer.program), verdict);
  const std::string behind = fmt::format("{}  ({})\n", title, scope);
  return display_width(behind) <= style.width() ? behind : title + "\n" + wrap_text(scope, "  ", style.width());
}

std::vector<std::string> place_cells(const TrafficChange& change, const AuditAnswer& answer) {
  return {std::string(noun_of(change.traffic)), axes_text(change.axes, answer.mesh),
          std::string(name_of(change.phase))};
}

/// Without a machine the columns of time are left out. Where there is little room the difference is the reader's to take.
TextTable table_with(std::vector<Column> figures, bool priced, std::vector<std::string> time_titles) {
  std::vector<Column> columns = {{"kind", Align::left, true}, {"axes", Align::left, true}, {"phase", Align::left, true}};
  for (auto& figure : figures) columns.push_back(std::move(figure));
  if (priced)
    for (auto& title : time_titles) columns.push_back({std::move(title), Align::right, false, 2});
  return TextTable(std::move(columns));
}

std::vector<std::string> number_cells(const Traffic& found, const Traffic& expected, const AuditAnswer& answer) {
  const bool compared = !answer.against.empty(), priced = !answer.hardware.empty();
  std::vector<std::string> cells;
  if (compared) cells.push_back(print_traffic(expected.bytes));
  cells.push_back(print_traffic(found.bytes));
  if (compared) cells.push_back(signed_traffic(found.bytes.value - expected.bytes.value));
  if (priced) cells.push_back(print_time(found.seconds));
  if (priced && compared) cells.push_back(signed_time(found.seconds.value - expected.seconds.value));
  return cells;
}

std::string traffic_table(const AuditAnswer& answer, const Style& style) {
  const bool compared = !answer.against.empty(), priced = !answer.hardware.empty();
  const Column before{"expected", Align::right}, now{"found", Align::right};
  const Column difference{"difference", Align::right, false, 1};
  TextTable table = compared ? table_with({before, now, difference}, priced, {"time", "difference"})
                             : table_with({now}, priced, {"time"});
  const auto add_row = [&](std::vector<std::string> cells, const Traffic& found, const Traffic& expected) {
    for (auto& cell : number_cells(found, expected, answer)) cells.push_back(std::move(cell));
    table.add(std::move(cells));
  };
  const ShownTraffic shown = shown_traffic(answer);
  for (const TrafficChange* change : shown.rows) add_row(place_cells(*change, answer), change->found, change->expected);
  if (shown.has_others()) add_row({"others", "", ""}, shown.found, shown.expected);
  return table.print(style.width(), 2);
}

std::string audit_finding(const Finding& finding, const Style& style) {
  std::string text = fmt::format("\n{} {}\n", style.paint(ink_of(finding.severity), name_of(finding.severity)),
                                 style.paint(Ink::bold, published_id(finding)));
  text += wrap_text(finding.message, "    ", style.width());
  if (!finding.fix.empty()) text += wrap_text(finding.fix, "    fix  ", style.width());
  return text;
}

}  // namespace

std::string audit_text(const AuditAnswer& answer, const Style& style) {
  std::string text =
      verdict_line(answer, style) + "\n" + style.paint(Ink::bold, "collectives") + "  a device and step\n";
  text += traffic_table(answer, style);
  text += timeline_section(answer, style);
  for (const auto& finding : answer.findings) text += audit_finding(finding, style);
  return text;
}

}  // namespace shardplan
