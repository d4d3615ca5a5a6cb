#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/text/plan/text_plan_tables.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/words/plan_words.hpp>
#include <planner/report/wrap.hpp>
#include <planner/search/comparison.hpp>
#include <planner/words/search_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

std::string memory_text(const MemoryUse& memory) {
  return fmt::format("{}/{}", print_gibibytes(memory.peak()), print_gibibytes(memory.capacity));
}

/// A column and what it says of a plan.
struct PlanColumn {
  Column column;
  std::string (*text)(const Evaluation&);
};

/// The same columns for a machine and for a runner-up, in the order of what they are sorted by; `rank` is how gladly a
/// narrow screen goes without the settings, which stand in the plan's command too.
std::vector<PlanColumn> figures(bool has_experts, int settings_rank) {
  std::vector<PlanColumn> all = {
      {{"tokens/s", Align::right}, print_rate},
      {{"per chip", Align::right, false, 5}, print_rate_per_chip},
      {{"step", Align::right, false, 2}, [](const Evaluation& e) { return print_time(e.time.with_routing()); }},
      {{"MFU", Align::right, false, 4}, [](const Evaluation& e) { return print_share(e.time.utilization_with_routing()); }},
      {{"HBM GiB", Align::right, false, 3}, [](const Evaluation& e) { return memory_text(e.memory); }},
      {{"batch tok", Align::right, false, 1}, [](const Evaluation& e) { return print_count(e.global_batch_tokens); }},
      {{"mesh", Align::left, true}, [](const Evaluation& e) { return describe(e.mesh); }},
      {{"rules", Align::left, true, settings_rank}, [](const Evaluation& e) { return e.rules; }}};
  if (has_experts)
    all.push_back({{"MoE", Align::left, false, settings_rank + 2},
                   [](const Evaluation& e) { return std::string(name_of(e.moe_path)); }});
  all.push_back({{"remat", Align::left, true, settings_rank + 1}, [](const Evaluation& e) { return e.remat; }});
  return all;
}

std::vector<Column> with_columns_of(std::vector<Column> first, const std::vector<PlanColumn>& figures) {
  for (const auto& figure : figures) first.push_back(figure.column);
  return first;
}

std::vector<std::string> with_cells_of(std::vector<std::string> first, const Evaluation& evaluation,
                                       const std::vector<PlanColumn>& figures) {
  for (const auto& figure : figures) first.push_back(figure.text(evaluation));
  return first;
}

bool has_experts(const Evaluation& evaluation) { return evaluation.moe_path != MoePath::none; }

std::string dollars_text(const MachinePlan& machine) {
  return print_dollars(*machine.dollars_per_million_tokens);
}

std::vector<std::string> first_cells(const PlanAnswer& answer, const MachinePlan& machine, std::string fits) {
  std::vector<std::string> cells = {machine.hardware, std::move(fits)};
  if (answer.shows_cost()) cells.push_back(machine.dollars_per_million_tokens ? dollars_text(machine) : "");
  return cells;
}

std::string fit_text(Fit fit, const Style& style) {
  return style.paint(fit == Fit::fits ? Ink::green : Ink::yellow, fit_word(fit));
}

void add_machine(TextTable& table, const PlanAnswer& answer, const MachinePlan& machine,
                 const std::vector<PlanColumn>& figures, const Style& style) {
  if (machine.recommended) {
    table.add(with_cells_of(first_cells(answer, machine, fit_text(machine.recommended->memory.fit(), style)),
                            *machine.recommended, figures));
    return;
  }
  const std::string verdict =
      machine.closest_may_fit() ? fit_text(Fit::marginal, style) : style.paint(Ink::red, "no");
  table.add_spanning(first_cells(answer, machine, verdict), shortfall_of(machine));
  if (const std::string changes = would_fit_with(machine); !changes.empty())
    table.add_spanning(first_cells(answer, {}, ""), "would fit with: " + changes);
}

std::string unfinished_text(const PlanAnswer& answer, const Style& style) {
  std::string text;
  for (const auto& machine : answer.machines)
    if (machine.unfinished)
      text += wrap_text(fmt::format("{}: {}", machine.hardware, in_words(*machine.unfinished)), "", style.width());
  return text;
}

bool comes_in_nodes(const Evaluation& plan) { return ends_at_node(plan.configuration->hardware.fabric); }

/// Whoever takes GPUs takes nodes; a slice of all the chips may be what was expected of TPUs.
std::string slices_text(const PlanAnswer& answer, const Style& style) {
  std::string text;
  for (const auto& machine : answer.machines)
    if (const auto& plan = machine.recommended; plan && plan->slices > 1 && !comes_in_nodes(*plan))
      text += wrap_text(fmt::format("{}: {}{} of {}, joined by the data-center network", machine.hardware,
                                    counted(plan->chips, "chip"), in_slices(*plan), plan->configuration->slice.name),
                        "", style.width());
  return text;
}

/// Mesh sizes count devices, of which a chip of some machines has two.
std::string devices_text(const PlanAnswer& answer, const Style& style) {
  std::string text;
  for (const auto& machine : answer.machines)
    if (const auto& plan = machine.recommended; plan && plan->devices != plan->chips)
      text += wrap_text(fmt::format("{}: {} {} {}; meshes and batches count devices", machine.hardware,
                                    counted(plan->chips, "chip"), plan->chips == 1 ? "is" : "are",
                                    counted(plan->devices, "device")),
                        "", style.width());
  return text;
}

std::string at_most_text(const PlanAnswer& answer, const Style& style) {
  const std::string words = at_most_words(answer);
  return words.empty() ? "" : wrap_text(words, "< ", style.width());
}

/// MFU has one peak for all runs; products of fewer bits reach beyond it.
std::string peak_text(const PlanAnswer& answer, const Style& style) {
  const bool is_quantized = std::any_of(answer.machines.begin(), answer.machines.end(), [](const MachinePlan& machine) {
    return machine.recommended && machine.recommended->config.quantization != Quantization::none;
  });
  return is_quantized ? wrap_text("MFU is of bf16's peak, beyond which quantized products go", "", style.width()) : "";
}

}  // namespace

std::string machines_text(const PlanAnswer& answer, const Style& style) {
  const bool experts = std::any_of(answer.machines.begin(), answer.machines.end(), [](const MachinePlan& machine) {
    return machine.recommended && has_experts(*machine.recommended);
  });
  const auto columns = figures(experts, 6);
  std::vector<Column> first = {{"machine"}, {"fits"}};
  if (answer.shows_cost()) first.push_back({"$/M tokens", Align::right});
  TextTable table(with_columns_of(std::move(first), columns));
  for (const auto& machine : answer.machines) add_machine(table, answer, machine, columns, style);
  return table.print(style.width()) + unfinished_text(answer, style) + slices_text(answer, style) +
         devices_text(answer, style) + at_most_text(answer, style) + peak_text(answer, style);
}

std::string strategies_text(const MachinePlan& machine, const Style& style) {
  if (machine.strategies.size() < 2) return "";
  TextTable table({{"with"},
                   {"slower", Align::right},
                   {"HBM GiB", Align::right, false, 2},
                   {"batch tok", Align::right, false, 1},
                   {"mesh", Align::left, true},
                   {"rules", Align::left, true, 3},
                   {"mostly", Align::left, true}});
  for (const auto& plan : machine.strategies) {
    table.add({std::string(name_of(plan.strategy)),
               std::abs(plan.slower) < visible_slowdown ? "-" : slower_in_words(plan.slower),
               memory_text(plan.evaluation.memory), print_count(plan.evaluation.global_batch_tokens),
               describe(plan.evaluation.mesh), plan.evaluation.rules, plan.why});
    if (!plan.pipeline.empty()) table.add_spanning({"", "", "", ""}, plan.pipeline);
  }
  return style.paint(Ink::bold, "best of each kind of parallelism") + "\n" + table.print(style.width(), 2);
}

std::string alternatives_text(const MachinePlan& machine, const Style& style) {
  if (machine.alternatives.empty()) return "";
  const auto columns = figures(has_experts(*machine.recommended), 3);
  TextTable table(with_columns_of({}, columns));
  for (const auto& evaluation : machine.alternatives) table.add(with_cells_of({}, evaluation, columns));
  return style.paint(Ink::bold, "next best") + "\n" + table.print(style.width(), 2);
}

}  // namespace shardplan
