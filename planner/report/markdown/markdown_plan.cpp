#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/markdown/markdown_run.hpp>
#include <planner/words/search_words.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

constexpr std::size_t reasons_shown = 5;

std::string shortfall_of(const MachinePlan& machine) {
  if (!machine.refused.empty()) return machine.refused;
  if (machine.closest_may_fit()) return marginal_text(machine.closest->memory);
  if (const Infeasible* shortage = machine.shortage()) return shortage->message;
  return machine.rejections.empty() ? "no valid configuration" : machine.rejections.front().example;
}

std::vector<std::string> machine_row(const MachinePlan& machine) {
  if (!machine.recommended) {
    const std::string verdict = machine.closest_may_fit() ? "marginal: " : "no: ";
    return {markdown_text(machine.hardware), verdict + markdown_text(shortfall_of(machine)), "", "", "", "", "", "", ""};
  }
  const Evaluation& e = *machine.recommended;
  return {markdown_text(machine.hardware),
          markdown_verdict(e),
          print_number(e.tokens_per_second_with_routing()),
          print_number(e.tokens_per_second_with_routing() / e.chips),
          print_time(e.time.with_routing()),
          print_share(e.time.utilization_with_routing()),
          fmt::format("{} of {}", print_memory(e.memory.peak()), print_memory(e.memory.capacity)),
          markdown_code(describe(e.mesh)) + in_slices(e),
          markdown_text(e.rules)};
}

std::string machines_table(const PlanAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& machine : answer.machines) rows.push_back(machine_row(machine));
  return markdown_table({{"machine"}, {"fits"}, {"tokens/s", true}, {"a chip", true}, {"step", true}, {"MFU", true},
                         {"memory", true}, {"mesh"}, {"rules"}},
                        rows);
}

std::string slower_text(double slower) {
  return slower < 1 ? print_share(slower) : fmt::format("{}x", print_number(1 + slower));
}

std::string strategies_table(const MachinePlan& machine) {
  if (machine.strategies.size() < 2) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& plan : machine.strategies)
    rows.push_back({std::string(name_of(plan.strategy)), slower_text(plan.slower),
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
  return text + (findings.empty() ? "" : "\n" + findings) + "\n" + markdown_command(e);
}

}  // namespace

std::string plan_markdown(const PlanAnswer& answer) {
  const auto best = std::find_if(answer.machines.begin(), answer.machines.end(),
                                 [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  const bool any = best != answer.machines.end();
  const bool may = std::any_of(answer.machines.begin(), answer.machines.end(), std::mem_fn(&MachinePlan::closest_may_fit));
  std::string text = fmt::format("### {} on {}{}\n\n", markdown_text(answer.model), counted(answer.chips, "chip"),
                                 any ? "" : may ? ": marginal, nothing surely fits" : ": nothing fits");
  text += machines_table(answer) + would_fit_list(answer);
  return text + (any ? best_text(*best) : "");
}

std::string explanation_markdown(const Evaluation& e) {
  std::string text = fmt::format("### {} on {} of {}: {}\n\n", markdown_text(e.model), counted(e.chips, "chip"),
                                 markdown_text(e.hardware), markdown_verdict(e));
  text += markdown_settings(e) + "\n" + markdown_figures(e);
  const std::string findings = markdown_findings(e.findings) + markdown_flags(e);
  if (!findings.empty()) text += "\n" + findings;
  for (const auto& part : {markdown_time(e), markdown_memory(e), markdown_collectives(e), markdown_command(e)})
    if (!part.empty()) text += "\n" + part;
  return text;
}

}  // namespace shardplan
