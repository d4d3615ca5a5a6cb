#include <fmt/format.h>

#include <algorithm>
#include <planner/report/humanize.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/text/plan/text_plan.hpp>
#include <planner/report/text/plan/text_plan_tables.hpp>
#include <planner/report/text/plan/text_what_if.hpp>
#include <planner/report/wrap.hpp>
#include <planner/words/search_words.hpp>
#include <planner/report/shown_arguments.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

// What a screen has room for; --format json has all.
constexpr std::size_t reasons_shown = 4;

std::string reasons_text(const MachinePlan& machine, const Style& style) {
  if (machine.reasons.empty()) return "";
  std::string text = style.paint(Ink::bold, "why") + "\n";
  const std::size_t shown = std::min(reasons_shown, machine.reasons.size());
  for (std::size_t i = 0; i < shown; ++i) text += wrap_text(machine.reasons[i], "  - ", style.width());
  if (shown < machine.reasons.size())
    text += fmt::format("  - and {} more (--format json)\n", machine.reasons.size() - shown);
  return text;
}

std::string change_text(const MachinePlan& machine, const Style& style) {
  if (machine.change_of_training.empty()) return "";
  return wrap_text(machine.change_of_training, style.paint(Ink::yellow, "note") + "       ", style.width());
}

/// What to paste for a plan, below its name.
std::string pasted_text(const std::string& name, const Evaluation& evaluation, const Style& style) {
  if (const auto commands = commands_of(evaluation))
    return fmt::format("  {}\n", name) + command_lines(commands->train, 4, style.width());
  return fmt::format("  {}: MaxText can't be launched on {}\n", name, evaluation.hardware) +
         settings_lines(arguments_of(evaluation), 4, style.width());
}

std::string alternative_commands(const MachinePlan& machine, const Style& style) {
  std::string text;
  for (const auto& evaluation : machine.alternatives) text += pasted_text(describe(evaluation.mesh), evaluation, style);
  return text.empty() ? "" : style.paint(Ink::bold, "to start the next best") + "\n" + text;
}

std::string best_text(const MachinePlan& machine, const Style& style, const PlanParts& parts) {
  const std::string searched = fmt::format("(of {}, {})", counted(machine.evaluated, "configuration"),
                                           machine.fitting == 1 ? "1 fits" : print_count(machine.fitting) + " fit");
  const std::string title = style.paint(Ink::bold, fmt::format("best: {}", machine.hardware));
  return "\n" + wrap_text(searched, title + "  ", style.width()) +
         change_text(machine, style) + summary_text(*machine.recommended, style) + reasons_text(machine, style) +
         strategies_text(machine, style) + alternatives_text(machine, style) +
         (parts.what_if ? what_if_section(machine.what_ifs, style) : "") +
         (parts.commands ? alternative_commands(machine, style) : "");
}

/// Every other row of the table can be pasted too.
std::string commands_text(const PlanAnswer& answer, const MachinePlan& best, const Style& style) {
  std::string text;
  for (const auto& machine : answer.machines)
    if (&machine != &best && machine.recommended)
      text += pasted_text(machine.hardware, *machine.recommended, style);
  return text.empty() ? "" : style.paint(Ink::bold, "the other machines") + "\n" + text;
}

}  // namespace

std::string plan_text(const PlanAnswer& answer, const Style& style, const PlanParts& parts) {
  const std::string title =
      style.paint(Ink::bold, fmt::format("{} on {}", answer.model, counted(answer.chips, "chip")));
  const auto best = std::find_if(answer.machines.begin(), answer.machines.end(),
                                 [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  return title + plan_verdict(answer) + "\n\n" + machines_text(answer, style) +
         (best == answer.machines.end() ? "" : best_text(*best, style, parts) + commands_text(answer, *best, style));
}

}  // namespace shardplan
