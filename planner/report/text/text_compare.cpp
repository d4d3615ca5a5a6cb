#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <planner/compare/traffic.hpp>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/compare/compare_table.hpp>
#include <planner/report/compare/differences.hpp>
#include <planner/report/compare_report.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <tuple>

namespace shardplan {
namespace {

// What a screen has room for; --format json has all.
constexpr std::size_t differences_shown = 8, columns_by_axis = 4, rows_shown = 24;

std::string heading(const std::string& text, const Style& style) {
  std::string lines = wrap_text(text, "", style.width());
  lines.pop_back();
  return style.paint(Ink::bold, lines) + "\n";
}

/// Below that not even the first configuration's bytes and times stand on one line.
constexpr std::size_t narrow_screen = 60;

std::string differences_text(const CompareAnswer& answer, const Style& style) {
  std::string text = heading("differences", style);
  const std::size_t shown = std::min(differences_shown, answer.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ComparedRow& row = answer.rows[i];
    text += wrap_text(fmt::format("{}: {}", label_of(row, answer), difference_of(row, answer)),
                      fmt::format("  {:<3}", i + 1), style.width());
  }
  if (shown < answer.rows.size()) text += fmt::format("  and {} more in the table\n", answer.rows.size() - shown);
  return text;
}

std::string changed_text(const CompareAnswer& answer, const Style& style) {
  if (!answer.changed) return "";
  TextTable table({{"setting"}, {answer.rows[0].name, Align::left, true}, {answer.rows[1].name, Align::left, true}});
  for (const auto& [key, first, second] : *answer.changed)
    table.add({key, first.empty() ? "(default)" : first, second.empty() ? "(default)" : second});
  if (table.empty()) return heading("settings", style) + "  the same\n";
  return heading("settings", style) + table.print(style.width(), 2);
}

std::string rule_change_text(const RuleChange& change, const CompareAnswer& answer, const Style& style) {
  std::string text = "  " + style.paint(Ink::bold, change_subject(change)) + "\n";
  for (const auto& said : said_by(change, change.first)) text += wrap_text(said, "    - ", style.width());
  for (const auto& said : said_by(change, change.second)) text += wrap_text(said, "    + ", style.width());
  return text + wrap_text(change_alone(change, answer), "      ", style.width());
}

std::string rules_text(const CompareAnswer& answer, const Style& style) {
  if (!answer.rules) return "";
  const auto [effective, idle] = changes_by_effect(answer);
  std::string text =
      heading(fmt::format("rules that change from {} to {}", answer.rules->first, answer.rules->second), style);
  if (effective.empty() && idle.empty()) text += "  none\n";
  for (const RuleChange* change : effective) text += rule_change_text(*change, answer, style);
  if (!idle.empty()) text += wrap_text(idle_changes(idle, answer), "  ", style.width());
  return text;
}

/// The figures go first where the screen is narrow: they stand in the differences too.
std::string configurations_text(const CompareAnswer& answer, const Style& style) {
  const auto columns = compare_columns(answer);
  std::vector<Column> titles = {{"#", Align::right}};
  for (const auto& column : columns)
    titles.push_back(
        {column.title, column.is_number ? Align::right : Align::left, !column.is_number, column.dispensable});
  TextTable table(std::move(titles));
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    std::vector<std::string> cells = {std::to_string(i + 1)};
    for (const auto& column : columns) cells.push_back(column.cell(answer.rows[i]));
    table.add(std::move(cells));
  }
  const std::string same = same_in_all(answer), at_most = at_most_words(answer);
  return heading("side by side, bytes a device and step", style) + table.print(style.width(), 2) +
         (at_most.empty() ? "" : wrap_text(at_most, "  < ", style.width())) +
         (same.empty() ? "" : wrap_text("same in all: " + same, "  ", style.width()));
}

using TrafficKey = std::pair<CollectiveKind, std::vector<std::string>>;

/// What each of the first rows moves of each kind over each set of axes; the heaviest of all first.
std::string by_axis_text(const CompareAnswer& answer, const Style& style) {
  const std::size_t shown = std::min(columns_by_axis, answer.rows.size());
  std::map<TrafficKey, std::vector<std::string>> cells;
  std::map<TrafficKey, std::int64_t> heaviest;
  for (std::size_t i = 0; i < shown; ++i)
    for (const auto& one : traffic_by_axes(answer.rows[i].evaluation)) {
      const TrafficKey key{one.kind, one.axes};
      auto& texts = cells.try_emplace(key, shown, "-").first->second;
      texts[i] = fmt::format("{} {}", print_traffic(one.bytes), print_time(one.exposed));
      if (one.hidden().value > 0) texts[i] += " + " + print_time(one.hidden());
      heaviest[key] = std::max(heaviest[key], one.bytes.value);
    }
  std::vector<std::pair<std::int64_t, TrafficKey>> order;
  for (const auto& [key, bytes] : heaviest) order.emplace_back(-bytes, key);
  std::sort(order.begin(), order.end());
  std::vector<Column> titles = {{"kind", Align::left, true}, {"axes", Align::left, true}};
  const bool wraps = style.width() < narrow_screen;
  for (int i = 0; i < static_cast<int>(shown); ++i)
    titles.push_back({fmt::format("#{}", i + 1), Align::right, wraps, i, 15});
  TextTable table(std::move(titles));
  table.leave_out_rows_of("-", 2);
  for (const auto& [bytes, key] : order) {
    std::vector<std::string> row = {std::string(name_of(key.first)), join_axes(key.second)};
    row.insert(row.end(), cells[key].begin(), cells[key].end());
    table.add(std::move(row));
  }
  if (table.empty()) return "";
  const std::string first = shown < answer.rows.size() ? fmt::format(" (the first {})", shown) : "";
  return heading("by axis: bytes, exposed + hidden time, a device and step" + first, style) +
         table.print(style.width(), 2);
}

std::string refused_text(const CompareAnswer& answer, const Style& style) {
  if (answer.refused.empty()) return "";
  std::string text = heading("left out", style);
  for (const auto& refusal : refusals_of(answer)) text += wrap_text(refusal, "  - ", style.width());
  return text;
}

}  // namespace

std::string compare_text(const CompareAnswer& all, const Style& style) {
  const auto [answer, left] = shown_rows(all, rows_shown);
  const std::string more = left == 0 ? "" : fmt::format("  and {} more (--format json)\n", left);
  const std::string verdict = rules_verdict(all);
  return heading(compare_title(all), style) +
         (verdict.empty() ? "" : wrap_text(verdict, "", style.width())) + "\n" + differences_text(answer, style) +
         changed_text(answer, style) + rules_text(answer, style) + configurations_text(answer, style) + more +
         by_axis_text(answer, style) + refused_text(answer, style);
}

}  // namespace shardplan
