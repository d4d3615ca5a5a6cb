#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/markdown/markdown_run.hpp>
#include <planner/report/markdown/markdown_timeline.hpp>
#include <planner/words/rule_words.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

constexpr Bytes small{1'000'000};  // what a table has no room for; --format json has all

std::string_view verdict(bool is_regression) { return is_regression ? "**regression**" : "ok"; }

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

std::string signed_traffic(std::int64_t bytes) {
  if (bytes == 0) return "";
  return (bytes < 0 ? "-" : "+") + print_traffic({bytes < 0 ? -bytes : bytes});
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
  std::string text = fmt::format("### rules {}: {}, {}\n\n", markdown_code(answer.rules), verdict(answer.is_regression()),
                                 counted(static_cast<std::int64_t>(counting), "finding"));
  text += fmt::format("{} on {}\n", counted(answer.cases, "configuration"), markdown_text(answer.hardware));
  if (!findings.empty()) text += "\n" + findings;
  return text + (others.empty() ? "" : "\n" + markdown_details("known or ignored", others));
}

std::string audit_markdown(const AuditAnswer& answer) {
  std::string text = fmt::format("### {}: {}\n\n", markdown_code(answer.program), verdict(answer.is_regression()));
  text += fmt::format(
      "{}mesh {}{}\n", answer.against.empty() ? "" : fmt::format("against {}; ", markdown_text(answer.against)),
      markdown_code(describe(answer.mesh)), answer.hardware.empty() ? "" : "; priced on " + markdown_text(answer.hardware));
  std::vector<std::vector<std::string>> rows;
  for (const auto& change : answer.changes) {
    if (change.found.bytes < small && change.expected.bytes < small) continue;
    rows.push_back({std::string(noun_of(change.traffic)), markdown_code(join_axes(names_of(change.axes, answer.mesh))),
                    std::string(name_of(change.phase)), answer.against.empty() ? "-" : print_traffic(change.expected.bytes),
                    print_traffic(change.found.bytes),
                    answer.against.empty() ? "-" : signed_traffic(change.found.bytes.value - change.expected.bytes.value)});
  }
  const std::string table = markdown_table(
      {{"collective"}, {"axes"}, {"phase"}, {"expected", true}, {"found", true}, {"difference", true}}, rows);
  const std::string findings = markdown_findings(answer.findings);
  return text + (findings.empty() ? "" : "\n" + findings) + (table.empty() ? "" : "\n" + table) +
         markdown_timeline(answer);
}

}  // namespace shardplan
