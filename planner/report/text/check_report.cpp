#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/report/check_report.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

constexpr std::size_t models_shown = 12;
constexpr std::size_t meshes_shown = 6;

/// "a, b, c and 4 more"
std::string first_of(const std::vector<std::string>& names, std::size_t most, std::string_view separator) {
  const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), separator));
  return shown == names.size() ? text : text + fmt::format(" and {} more", names.size() - shown);
}

std::string part(std::string_view title, const std::string& text, const Style& style) {
  return wrap_text(text, fmt::format("    {:<8}", title), style.width());
}

std::string rules_part(const CheckedFinding& checked, const Style& style) {
  std::string text;
  for (const auto& place : checked.rules) {
    const std::string line = place.line > 0 ? fmt::format("line {}  ", place.line) : "";
    text += part(text.empty() ? "rules" : "", line + rule_in_yaml(place.rule), style);
  }
  return text;
}

std::string bites_part(const CheckedFinding& checked, std::int64_t cases, const Style& style) {
  const Bites& bites = checked.bites;
  if (bites.cases == 0 || cases <= 1) return "";
  const bool of_baseline = checked.finding.id == FindingId::refused_since_baseline;
  std::string where = of_baseline
                          ? counted(bites.cases, "configuration") + " of the baseline: "
                          : fmt::format("{} of {}: ", print_count(bites.cases), counted(cases, "configuration"));
  where += first_of(bites.models, models_shown, ", ");
  if (!bites.paths.empty()) where += fmt::format(" ({} path)", fmt::join(names_of(bites.paths), " and "));
  return part("bites", where, style) + part("", "on " + first_of(bites.meshes, meshes_shown, " · "), style);
}

std::string checked_finding(const CheckedFinding& checked, const CheckAnswer& answer, const Style& style) {
  const Finding& finding = checked.finding;
  std::string text = fmt::format("{} {}\n", style.paint(ink_of(finding.severity), name_of(finding.severity)),
                                 style.paint(Ink::bold, published_id(finding)));
  text += wrap_text(finding.message, "    ", style.width());
  if (answer.cases > 1 && !checked.worst.empty()) text += part("there", checked.worst, style);
  if (!finding.where.empty()) text += part("where", finding.where, style);
  text += rules_part(checked, style);
  if (!finding.fix.empty()) text += part("fix", finding.fix, style);
  return "\n" + text + bites_part(checked, answer.cases, style);
}

std::int64_t count_of(const CheckAnswer& answer, Standing standing) {
  return std::count_if(answer.findings.begin(), answer.findings.end(),
                       [&](const CheckedFinding& f) { return f.standing == standing; });
}

std::string count_text(const CheckAnswer& answer) {
  if (answer.findings.empty()) return "no findings";
  if (count_of(answer, Standing::counts) == 0) return "no new findings";
  const auto of = [&](Severity severity) {
    return std::count_if(answer.findings.begin(), answer.findings.end(), [&](const CheckedFinding& f) {
      return f.standing == Standing::counts && f.finding.severity == severity;
    });
  };
  return fmt::format("{}, {}, {}", counted(of(Severity::error), "error"), counted(of(Severity::warning), "warning"),
                     counted(of(Severity::note), "note"));
}

std::string scope_text(const CheckAnswer& answer) {
  if (answer.models.size() == 1 && answer.meshes.size() == 1)
    return fmt::format("{} on {}", answer.models.front(), answer.meshes.front());
  return fmt::format("{}, {}, {}", counted(static_cast<std::int64_t>(answer.models.size()), "model"),
                     counted(static_cast<std::int64_t>(answer.meshes.size()), "mesh"),
                     counted(answer.cases, "configuration"));
}

/// The findings that don't count, by id alone: "known from the baseline: expert-axis-stolen, worst-case-rows".
std::string ids_text(const CheckAnswer& answer, Standing standing, const std::string& title, const Style& style) {
  std::vector<std::string_view> ids;
  for (const auto& checked : answer.findings)
    if (checked.standing == standing) ids.push_back(published_id(checked.finding));
  return ids.empty() ? "" : "\n" + wrap_text(fmt::format("{}", fmt::join(ids, ", ")), title + " ", style.width());
}

std::string not_compared_text(const CheckAnswer& answer, const Style& style) {
  if (answer.not_compared.empty()) return "";
  return "\n" + wrap_text("steps are not compared with the baseline's: " + answer.not_compared, "", style.width());
}

}  // namespace

std::string check_text(const CheckAnswer& answer, const Style& style) {
  std::string text = fmt::format("{}: {}  ({}; {})", style.paint(Ink::bold, "rules " + answer.rules),
                                 style.paint(answer.is_regression() ? Ink::red : Ink::green, count_text(answer)),
                                 scope_text(answer), answer.hardware);
  text = display_width(text) > style.width() ? wrap_text(text, "", style.width()) : text + "\n";
  for (const auto& checked : answer.findings)
    if (checked.standing == Standing::counts) text += checked_finding(checked, answer, style);
  return text + ids_text(answer, Standing::known, "known from the baseline:", style) +
         ids_text(answer, Standing::ignored, "ignored:", style) + not_compared_text(answer, style);
}

}  // namespace shardplan
