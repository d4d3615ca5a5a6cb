#include <fmt/format.h>

#include <limits>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

constexpr std::size_t groups_in_summary = 8;
constexpr std::size_t findings_in_summary = 4;

std::string machine_text(const Evaluation& evaluation) {
  std::string text = fmt::format("{}, {}", evaluation.hardware, counted(evaluation.chips, "chip"));
  if (evaluation.devices != evaluation.chips) text += fmt::format(" ({})", counted(evaluation.devices, "device"));
  if (evaluation.slices > 1) text += fmt::format(" in {}", counted(evaluation.slices, "slice"));
  return text;
}

bool is_about_memory(const Evaluation& evaluation) {
  return !evaluation.infeasible || evaluation.infeasible->constraint == ConstraintId::hbm;
}

std::string verdict_line(const Evaluation& evaluation, const Style& style) {
  const Fit fit = evaluation.memory.fit();
  if (is_about_memory(evaluation) && fit == Fit::marginal)
    return style.paint(Ink::yellow, "marginal") + wrap_text(marginal_text(evaluation.memory), "  ", style.width());
  if (!evaluation.infeasible) return style.paint(Ink::green, "fits") + "\n";
  return style.paint(Ink::red, "does not run") + wrap_text(infeasible_text(*evaluation.infeasible), "  ", style.width());
}

}  // namespace

std::string marginal_text(const MemoryUse& memory) {
  std::string text = fmt::format("it may fit or not: {} to {} needed, {} available", print_memory(memory.low),
                                 print_memory(memory.high), print_memory(memory.capacity));
  if (memory.reserved.value > 0) text += fmt::format(", {} of it to stay free", print_memory(memory.reserved));
  return text;
}

std::string infeasible_text(const Infeasible& infeasible) {
  if (infeasible.constraint != ConstraintId::hbm)
    return fmt::format("{}: {}", name_of(infeasible.constraint), infeasible.message);
  return fmt::format("hbm: {} needed, {} available ({} too much)", print_memory({infeasible.needed}),
                     print_memory({infeasible.available}), print_memory({infeasible.needed - infeasible.available}));
}

std::string explanation_text(const Evaluation& evaluation, const Style& style) {
  return style.paint(Ink::bold, fmt::format("{} on {}", evaluation.model, machine_text(evaluation))) + "  " +
         verdict_line(evaluation, style) + settings_section(evaluation, style) + flags_section(evaluation, style) +
         command_section(evaluation, style) + model_notes_section(evaluation, style) + time_section(evaluation, style) +
         memory_section(evaluation, style) +
         findings_section(evaluation, style, std::numeric_limits<std::size_t>::max()) +
         all_collectives_section(evaluation, style);
}

std::string summary_text(const Evaluation& evaluation, const Style& style) {
  return settings_section(evaluation, style) + flags_section(evaluation, style) +
         command_section(evaluation, style) + model_notes_section(evaluation, style) + time_section(evaluation, style) +
         memory_section(evaluation, style) + grouped_collectives_section(evaluation, style, groups_in_summary) +
         findings_section(evaluation, style, findings_in_summary);
}

}  // namespace shardplan
