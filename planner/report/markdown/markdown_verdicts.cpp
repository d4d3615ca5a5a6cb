#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/report/words/audit_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/markdown/markdown_run.hpp>
#include <planner/report/markdown/markdown_timeline.hpp>
#include <planner/words/rule_words.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

std::string in_bold(std::string_view verdict) { return fmt::format("**{}**", verdict); }

std::string details_of(const CheckedFinding& checked) {
  std::string text;
  if (!checked.worst.empty()) text += fmt::format("  - worst in {}\n", markdown_text(checked.worst));
  for (const auto& place : checked.rules)
    text += fmt::format("  - rule {}{}\n", place.line > 0 ? fmt::format("in line {}: ", place.line) : "",
                        markdown_code(rule_in_yaml(place.rule)));
  if (checked.bites.cases > 0)
    text += fmt::format("  - bites {}: {}\n", counted(checked.bites.cases, "configuration"),
                        markdown_text(fmt::format("{} on {}", fmt::join(checked.bites.models, ", "),
                                                  fmt::join(checked.bites.meshes, " · "))));
  return text;
}

}  // namespace

std::string check_markdown(const CheckAnswer& answer) {
  std::string findings, others;
  std::size_t counting = 0;
  for (const auto& checked : answer.findings) {
    const bool counts = checked.standing == Standing::counts;
    counting += counts ? 1 : 0;
    if (counts) findings += markdown_findings({checked.finding}) + details_of(checked);
    else others += fmt::format("- {} {}\n", name_of(checked.standing), markdown_code(published_id(checked.finding)));
  }
  std::string text = fmt::format("### rules {}: {}, {}\n\n", markdown_code(answer.rules),
                                 answer.is_regression() ? in_bold("regression") : "ok",
                                 counted(static_cast<std::int64_t>(counting), "finding"));
  text += fmt::format("{} on {}\n", counted(answer.cases, "configuration"), markdown_text(answer.hardware));
  if (!findings.empty()) text += "\n" + findings;
  if (!answer.not_compared.empty())
    text += fmt::format("\nSteps are not compared with the baseline's: {}.\n", markdown_text(answer.not_compared));
  return text + (others.empty() ? "" : "\n" + markdown_details("known or ignored", others));
}

std::string audit_markdown(const AuditAnswer& answer) {
  std::string text = fmt::format("### {}: {}\n\n", markdown_code(answer.program),
                                 answer.is_regression() ? in_bold(verdict_of(answer)) : "ok");
  text += fmt::format(
      "{}mesh {}{}\n", answer.against.empty() ? "" : fmt::format("against {}; ", markdown_text(answer.against)),
      markdown_code(describe(answer.mesh)), answer.hardware.empty() ? "" : "; priced on " + markdown_text(answer.hardware));
  const ShownTraffic shown = shown_traffic(answer);
  std::vector<std::vector<std::string>> rows;
  const auto add_row = [&](std::vector<std::string> place, const Traffic& found, const Traffic& expected) {
    const bool compared = !answer.against.empty();
    rows.push_back(std::move(place));
    rows.back().push_back(compared ? print_traffic(expected.bytes) : "-");
    rows.back().push_back(print_traffic(found.bytes));
    rows.back().push_back(compared ? signed_traffic(found.bytes.value - expected.bytes.value) : "-");
  };
  for (const TrafficChange* change : shown.rows)
    add_row({std::string(noun_of(change->traffic)), markdown_code(join_axes(names_of(change->axes, answer.mesh))),
             std::string(name_of(change->phase))},
            change->found, change->expected);
  if (shown.has_others()) add_row({"others", "", ""}, shown.found, shown.expected);
  const std::string table = markdown_table(
      {{"collective"}, {"axes"}, {"phase"}, {"expected", true}, {"found", true}, {"difference", true}}, rows);
  const std::string findings = markdown_findings(answer.findings);
  return text + (findings.empty() ? "" : "\n" + findings) + (table.empty() ? "" : "\n" + table) +
         markdown_timeline(answer);
}

}  // namespace shardplan
