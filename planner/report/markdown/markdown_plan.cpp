#include <fmt/format.h>

#include <algorithm>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/words/plan_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/markdown/markdown_run.hpp>
#include <planner/words/search_words.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

constexpr std::size_t reasons_shown = 5;

std::string fits_text(const MachinePlan& machine) {
  if (machine.recommended) return markdown_verdict(*machine.recommended);
  return (machine.closest_may_fit() ? "marginal: " : "no: ") + markdown_text(shortfall_of(machine));
}

constexpr std::size_t figure_columns = 7;

std::vector<std::string> figures_of(const MachinePlan& machine) {
  if (!machine.recommended) return std::vector<std::string>(figure_columns);
  const Evaluation& e = *machine.recommended;
  return {markdown_text(print_rate(e)),
          markdown_text(print_rate_per_chip(e)),
          print_time(e.time.with_routing()),
          print_share(e.time.utilization_with_routing()),
          fmt::format("{} of {}", print_memory(e.memory.peak()), print_memory(e.memory.capacity)),
          markdown_code(describe(e.mesh)) + in_slices(e),
          markdown_text(e.rules)};
}

std::string machines_table(const PlanAnswer& answer) {
  std::vector<MarkdownColumn> columns = {{"machine"},      {"fits"},           {"tokens/s", true},
                                         {"a chip", true}, {"step", true},     {"MFU", true},
                                         {"memory", true}, {"mesh"},           {"rules"}};
  if (answer.shows_cost()) columns.insert(columns.begin() + 2, {"$/M tokens", true});
  std::vector<std::vector<std::string>> rows;
  for (const auto& machine : answer.machines) {
    std::vector<std::string> row = {markdown_text(machine.hardware), fits_text(machine)};
    const auto& dollars = machine.dollars_per_million_tokens;
    if (answer.shows_cost()) row.push_back(dollars ? print_dollars(*dollars) : "");
    for (auto& figure : figures_of(machine)) row.push_back(std::move(figure));
    rows.push_back(std::move(row));
  }
  return markdown_table(columns, rows);
}

/// Of each machine whose search was stopped; what is shown of it is not the whole answer.
std::string unfinished_list(const PlanAnswer& answer) {
  std::string text;
  for (const MachinePlan& machine : answer.machines)
    if (machine.unfinished)
      text += fmt::format("- **warning** {}: {}\n", markdown_text(machine.hardware), in_words(*machine.unfinished));
  return text.empty() ? "" : text + "\n";
}

std::string strategies_table(const MachinePlan& machine) {
  if (machine.strategies.size() < 2) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& plan : machine.strategies)
    rows.push_back({std::string(name_of(plan.strategy)), slower_in_words(plan.slower),
                    markdown_code(describe(plan.evaluation.mesh)), print_memory(plan.evaluation.memory.peak()),
                    markdown_text(plan.why)});
  return "\n" + markdown_table({{"best with"}, {"slower", true}, {"mesh"}, {"peak", true}, {"mostly"}}, rows);
}

std::string reasons_list(const MachinePlan& machine) {
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons_shown, machine.reasons.size()); ++i)
    text += fmt::format("- {}\n", markdown_text(machine.reasons[i]));
  return text;
}

/// Of each machine that nothing fits on, what would.
std::string would_fit_list(const PlanAnswer& answer) {
  std::string text;
  for (const MachinePlan& machine : answer.machines)
    if (const std::string changes = would_fit_with(machine); !changes.empty())
      text += fmt::format("- {}: would fit with {}\n", markdown_text(machine.hardware), markdown_text(changes));
  return text.empty() ? "" : "\n" + text;
}

std::string best_text(const MachinePlan& machine) {
  const Evaluation& e = *machine.recommended;
  std::string text = fmt::format("\n#### {}\n\n{}", markdown_text(machine.hardware), markdown_settings(e));
  if (!machine.change_of_training.empty()) text += fmt::format("\n> {}\n", markdown_text(machine.change_of_training));
  text += "\n" + markdown_figures(e) + "\n" + reasons_list(machine) + strategies_table(machine);
  text += "\n" + markdown_details("time, memory and collectives",
                                  markdown_time(e) + "\n" + markdown_memory(e) + "\n" + markdown_collectives(e));
  const std::string findings = markdown_findings(e.findings) + markdown_flags(e);
  for (const auto& part : {findings, markdown_model_notes(e), markdown_command(e)})
    if (!part.empty()) text += "\n" + part;
  return text;
}

}  // namespace

std::string plan_markdown(const PlanAnswer& answer) {
  const auto best = std::find_if(answer.machines.begin(), answer.machines.end(),
                                 [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  std::string text = fmt::format("### {} on {}{}\n\n", markdown_text(answer.model), counted(answer.chips, "chip"),
                                 plan_verdict(answer));
  text += unfinished_list(answer) + machines_table(answer) + markdown_legend("<", at_most_words(answer)) +
          would_fit_list(answer);
  return text + (best == answer.machines.end() ? "" : best_text(*best));
}

std::string explanation_markdown(const Evaluation& e) {
  std::string text = fmt::format("### {} on {} of {}: {}\n\n", markdown_text(e.model), counted(e.chips, "chip"),
                                 markdown_text(e.hardware), markdown_verdict(e));
  text += markdown_settings(e) + "\n" + markdown_figures(e);
  const std::string findings = markdown_findings(e.findings) + markdown_flags(e);
  if (!findings.empty()) text += "\n" + findings;
  for (const auto& part : {markdown_model_notes(e), markdown_time(e), markdown_memory(e), markdown_collectives(e),
                           markdown_command(e)})
    if (!part.empty()) text += "\n" + part;
  return text;
}

}  // namespace shardplan
