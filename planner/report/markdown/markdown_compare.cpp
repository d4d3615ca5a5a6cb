#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/compare/traffic.hpp>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/compare/compare_table.hpp>
#include <planner/report/compare/differences.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_report.hpp>

namespace shardplan {
namespace {

constexpr std::size_t rows_shown = 12;  // what a comment has room for

std::string differences_list(const CompareAnswer& answer) {
  std::string text;
  for (std::size_t i = 0; i < answer.rows.size(); ++i)
    text += fmt::format("{}. {}: {}\n", i + 1, markdown_code(label_of(answer.rows[i], answer)),
                        markdown_text(difference_of(answer.rows[i], answer)));
  return text;
}

std::string configurations_table(const CompareAnswer& answer) {
  const auto columns = compare_columns(answer);
  std::vector<MarkdownColumn> titles = {{"", true}};
  for (const auto& column : columns) titles.push_back({column.title, column.is_number});
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : answer.rows) {
    rows.push_back({std::to_string(rows.size() + 1)});
    for (const auto& column : columns) rows.back().push_back(markdown_text(column.cell(row)));
  }
  const std::string same = same_in_all(answer);
  return markdown_table(titles, rows) + markdown_legend("<", at_most_words(answer)) +
         (same.empty() ? "" : fmt::format("\nSame in all: {}.\n", markdown_text(same)));
}

std::string by_axis_table(const CompareAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < answer.rows.size(); ++i)
    for (const auto& one : traffic_by_axes(answer.rows[i].evaluation))
      rows.push_back({std::to_string(i + 1), std::string(name_of(one.kind)), markdown_code(join_axes(one.axes)),
                      print_traffic(one.bytes), print_time(one.exposed), print_time(one.hidden())});
  return markdown_table({{"", true}, {"collective"}, {"axes"}, {"bytes", true}, {"exposed", true}, {"hidden", true}}, rows);
}

std::string rules_list(const CompareAnswer& answer) {
  const auto [effective, idle] = changes_by_effect(answer);
  std::string text = fmt::format("\n**Rules that change from {} to {}**\n\n", markdown_code(answer.rules->first),
                                 markdown_code(answer.rules->second));
  for (const RuleChange* change : effective) {
    text += fmt::format("- {}: {}\n", markdown_code(change_subject(*change)), markdown_text(change_alone(*change, answer)));
    std::string lines;
    for (const auto& said : said_by(*change, change->first)) lines += "- " + said + "\n";
    for (const auto& said : said_by(*change, change->second)) lines += "+ " + said + "\n";
    text += "\n" + markdown_block(lines, "diff") + "\n";
  }
  if (!idle.empty()) text += markdown_text(idle_changes(idle, answer)) + "\n";
  return text;
}

std::string changed_table(const CompareAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  const auto value = [](const std::string& text) { return text.empty() ? "(default)" : markdown_code(text); };
  for (const auto& [key, first, second] : *answer.changed) rows.push_back({markdown_code(key), value(first), value(second)});
  if (rows.empty()) return "\nThe settings are the same.\n";
  return "\n" + markdown_table({{"setting"}, {answer.rows[0].name}, {answer.rows[1].name}}, rows);
}

std::string nothing_runs(const CompareAnswer& answer) {
  std::string text = fmt::format("### {}\n", markdown_text(compare_title(answer)));
  for (const auto& refusal : refusals_of(answer)) text += fmt::format("\n- {}", markdown_text(refusal));
  return text + "\n";
}

}  // namespace

std::string compare_markdown(const CompareAnswer& all) {
  if (all.rows.empty()) return nothing_runs(all);
  const auto [answer, left] = shown_rows(all, rows_shown);
  const std::string verdict = rules_verdict(all);
  std::string text = fmt::format("### {}\n\n{}{}", markdown_text(compare_title(all)),
                                 verdict.empty() ? "" : markdown_text(verdict) + "\n\n", differences_list(answer));
  if (left > 0) text += fmt::format("\nand {} more (`--format json`)\n", left);
  if (answer.changed) text += changed_table(answer);
  if (answer.rules) text += rules_list(answer);
  text += "\n" + configurations_table(answer) + "\n" + markdown_details("bytes by mesh axis", by_axis_table(answer));
  for (const auto& refusal : refusals_of(answer)) text += fmt::format("\n- left out: {}", markdown_text(refusal));
  return text + (answer.refused.empty() ? "" : "\n");
}

}  // namespace shardplan
