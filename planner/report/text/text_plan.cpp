#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/report/humanize.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/text/text_plan.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <planner/report/shown_arguments.hpp>

namespace shardplan {
namespace {

// What a screen has room for; --format json has all.
constexpr std::size_t changes_shown = 2;
constexpr std::size_t reasons_shown = 4;

std::string chips_text(const Evaluation& evaluation) {
  if (evaluation.devices == evaluation.chips) return print_count(evaluation.chips);
  return fmt::format("{}/{}", print_count(evaluation.chips), print_count(evaluation.devices));
}

std::string memory_text(const MemoryUse& memory) {
  return fmt::format("{}/{}", print_gibibytes(memory.peak()), print_gibibytes(memory.capacity));
}

// Step time, tokens, MFU, memory, batch, mesh, rules, path, remat: the same cells for a machine and for a runner-up.
std::vector<std::string> figures_of(const Evaluation& evaluation) {
  const StepTime& time = evaluation.time;
  return {print_time(time.step()),
          print_number(time.tokens_per_second_per_device),
          print_share(time.model_flops_utilization),
          memory_text(evaluation.memory),
          fmt::format("{:g}", evaluation.config.per_device_batch_size),
          describe(evaluation.mesh),
          evaluation.rules,
          std::string(name_of(evaluation.moe_path)),
          evaluation.remat};
}

std::vector<Column> figure_columns(std::vector<Column> first) {
  for (Column& column : std::vector<Column>{{"step", Align::right},
                                            {"tok/s/dev", Align::right},
                                            {"MFU", Align::right},
                                            {"HBM GiB", Align::right},
                                            {"batch", Align::right},
                                            {"mesh", Align::left, true},
                                            {"rules", Align::left, true},
                                            {"MoE"},
                                            {"remat", Align::left, true}})
    first.push_back(std::move(column));
  return first;
}

std::string settings_of(const Evaluation& evaluation) {
  std::string text = fmt::format("{}, {}, {}", describe(evaluation.mesh), evaluation.rules, evaluation.remat);
  if (evaluation.moe_path != MoePath::none) text += fmt::format(", {}", name_of(evaluation.moe_path));
  return text;
}

std::string shortfall_of(const MachinePlan& machine) {
  if (!machine.refused.empty()) return machine.refused;
  if (!machine.closest || !machine.closest->infeasible) {
    if (machine.rejections.empty()) return "no valid configuration";
    return fmt::format("{}: {}", name_of(machine.rejections.front().constraint), machine.rejections.front().example);
  }
  const Infeasible& infeasible = *machine.closest->infeasible;
  if (infeasible.constraint != ConstraintId::hbm) return infeasible_text(infeasible);
  return fmt::format("needs {} of {} at least ({} too much) with {}", print_memory({infeasible.needed}),
                     print_memory({infeasible.available}), print_memory({infeasible.needed - infeasible.available}),
                     settings_of(*machine.closest));
}

std::string would_fit_of(const MachinePlan& machine) {
  std::vector<std::string> changes;
  for (const auto& way : machine.would_fit)
    if (changes.size() < changes_shown) changes.push_back(way.change);
  return changes.empty() ? "" : fmt::format("would fit with: {}", fmt::join(changes, "; or "));
}

std::string fit_text(Fit fit, const Style& style) {
  return fit == Fit::fits ? style.paint(Ink::green, "yes") : style.paint(Ink::yellow, "marginal");
}

void add_machine(TextTable& table, const MachinePlan& machine, int chips, const Style& style) {
  if (machine.recommended) {
    std::vector<std::string> cells = {machine.hardware, chips_text(*machine.recommended),
                                      fit_text(machine.recommended->memory.fit(), style)};
    for (auto& cell : figures_of(*machine.recommended)) cells.push_back(std::move(cell));
    table.add(std::move(cells));
    return;
  }
  const std::string count = machine.closest ? chips_text(*machine.closest) : print_count(chips);
  table.add_spanning({machine.hardware, count, style.paint(Ink::red, "no")}, shortfall_of(machine));
  if (const std::string ways = would_fit_of(machine); !ways.empty()) table.add_spanning({"", "", ""}, ways);
}

std::string machines_text(const PlanAnswer& answer, const Style& style) {
  TextTable table(figure_columns({{"machine"}, {"chips", Align::right}, {"fits"}}));
  for (const auto& machine : answer.machines) add_machine(table, machine, answer.chips, style);
  return table.print(report_width);
}

std::string reasons_text(const MachinePlan& machine, const Style& style) {
  if (machine.reasons.empty()) return "";
  std::string text = style.paint(Ink::bold, "why") + "\n";
  const std::size_t shown = std::min(reasons_shown, machine.reasons.size());
  for (std::size_t i = 0; i < shown; ++i) text += wrap_text(machine.reasons[i], "  - ", report_width);
  if (shown < machine.reasons.size())
    text += fmt::format("  - and {} more (--format json)\n", machine.reasons.size() - shown);
  return text;
}

std::string strategies_text(const MachinePlan& machine, const Style& style) {
  if (machine.strategies.size() < 2) return "";
  TextTable table({{"with"},
                   {"slower", Align::right},
                   {"HBM GiB", Align::right},
                   {"batch", Align::right},
                   {"mesh", Align::left, true},
                   {"rules", Align::left, true},
                   {"mostly"}});
  for (const auto& plan : machine.strategies) {
    table.add({plan.strategy, plan.why.empty() ? "-" : print_share(plan.slower),
               memory_text(plan.evaluation.memory), fmt::format("{:g}", plan.evaluation.config.per_device_batch_size),
               describe(plan.evaluation.mesh), plan.evaluation.rules, plan.why});
    if (!plan.pipeline.empty()) table.add_spanning({"", "", "", ""}, plan.pipeline);
  }
  return style.paint(Ink::bold, "best of each kind of parallelism") + "\n" + table.print(report_width, 2);
}

std::string alternatives_text(const MachinePlan& machine, const Style& style) {
  if (machine.alternatives.empty()) return "";
  TextTable table(figure_columns({}));
  for (const auto& evaluation : machine.alternatives) table.add(figures_of(evaluation));
  return style.paint(Ink::bold, "next best") + "\n" + table.print(report_width, 2);
}

std::string change_text(const MachinePlan& machine, const Style& style) {
  if (machine.change_of_training.empty()) return "";
  return wrap_text(machine.change_of_training, style.paint(Ink::yellow, "note") + "       ", report_width);
}

std::string best_text(const MachinePlan& machine, const Style& style) {
  return "\n" + style.paint(Ink::bold, fmt::format("best: {}", machine.hardware)) +
         fmt::format("  (of {} configurations, {} fit)\n", print_count(machine.evaluated),
                     print_count(machine.fitting)) +
         change_text(machine, style) +
         summary_text(*machine.recommended, style) + reasons_text(machine, style) + strategies_text(machine, style) +
         alternatives_text(machine, style);
}

std::string pasted_text(const Evaluation& evaluation) {
  if (const auto commands = commands_of(evaluation))
    return fmt::format("  {}\n", evaluation.hardware) + command_lines(commands->train, 4, report_width);
  return fmt::format("  {}: MaxText can't be launched on it\n", evaluation.hardware) +
         settings_lines(arguments_of(evaluation), 4, report_width);
}

/// Every other row of the table can be pasted too.
std::string commands_text(const PlanAnswer& answer, const MachinePlan& best, const Style& style) {
  std::string text;
  for (const auto& machine : answer.machines)
    if (&machine != &best && machine.recommended)
      text += pasted_text(*machine.recommended);
  return text.empty() ? "" : style.paint(Ink::bold, "the other machines") + "\n" + text;
}

}  // namespace

std::string plan_text(const PlanAnswer& answer, const Style& style) {
  const std::string title =
      style.paint(Ink::bold, fmt::format("{} on {} chips", answer.model, print_count(answer.chips)));
  const auto best = std::find_if(answer.machines.begin(), answer.machines.end(),
                                 [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  const std::string verdict = best == answer.machines.end()                               ? ": nothing fits"
                              : best->recommended->memory.fit() == Fit::fits ? ""
                                                                             : ": marginal, it may not fit";
  return title + verdict + "\n\n" + machines_text(answer, style) +
         (best == answer.machines.end() ? "" : best_text(*best, style) + commands_text(answer, *best, style));
}

}  // namespace shardplan
