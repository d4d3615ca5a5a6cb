#include <fmt/format.h>
#include <fmt/ranges.h>

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
  return text + in_slices(evaluation);
}

/// Each part stands behind the one before where the line has room for it, else below.
std::string verdict_lines(const std::vector<std::string>& parts, const Style& style) {
  std::string lines, line = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (display_width(line) + 2 + display_width(parts[i]) <= style.width()) {
      line += "  " + parts[i];
      continue;
    }
    lines += line + "\n";
    line = wrap_text(parts[i], "  ", style.width());
    line.pop_back();
  }
  return lines + line + "\n";
}

/// "1 error below: expert-axis-stolen"; empty: there is none.
std::string errors_below(const Evaluation& evaluation) {
  std::vector<std::string_view> names;
  for (const Finding& finding : evaluation.findings)
    if (finding.severity == Severity::error) names.push_back(name_of(finding.id));
  if (names.empty()) return "";
  return fmt::format("{} below: {}", counted(static_cast<std::int64_t>(names.size()), "error"), fmt::join(names, ", "));
}

/// Whether it runs and fits, and why not.
std::vector<std::string> verdict_parts(const Evaluation& evaluation, const Style& style) {
  if (runs_if_large_enough(evaluation) && evaluation.memory.fit() == Fit::marginal)
    return {style.paint(Ink::yellow, "marginal"), marginal_text(evaluation.memory)};
  if (!evaluation.infeasible) return {style.paint(Ink::green, "fits")};
  std::vector<std::string> parts = {style.paint(Ink::red, "does not run"), infeasible_text(*evaluation.infeasible)};
  if (!runs_if_large_enough(evaluation) && evaluation.memory.fit() == Fit::does_not_fit)
    parts.push_back("nor does it fit: " + shortage_text(evaluation.memory.peak(), evaluation.memory.capacity));
  return parts;
}

std::string headline(const Evaluation& evaluation, const Style& style) {
  std::vector<std::string> parts = verdict_parts(evaluation, style);
  parts.insert(parts.begin(), style.paint(Ink::bold, fmt::format("{} on {}", evaluation.model, machine_text(evaluation))));
  if (const std::string errors = errors_below(evaluation); !errors.empty()) parts.push_back(style.paint(Ink::red, errors));
  return verdict_lines(parts, style);
}

}  // namespace

std::string explanation_text(const Evaluation& evaluation, const Style& style) {
  return headline(evaluation, style) + settings_section(evaluation, style) + flags_section(evaluation, style) +
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
