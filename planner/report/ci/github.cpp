#include <fmt/format.h>

#include <planner/report/ci/github.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string_view command_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "notice";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  throw InternalError("unknown Severity");
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

/// The first rule that stands in the file; the file's first line where none does.
int line_of(const CheckedFinding& checked) {
  for (const auto& place : checked.rules)
    if (place.line > 0) return place.line;
  return 1;
}

std::string annotation(const CheckedFinding& checked, const CheckAnswer& answer) {
  const Finding& finding = checked.finding;
  std::string properties;
  if (answer.rules_are_file)
    properties = fmt::format("file={},line={},", escaped_property(answer.rules), line_of(checked));
  std::string message = checked.worst.empty() ? finding.message : checked.worst + ": " + finding.message;
  if (!finding.fix.empty()) message += "\nfix: " + finding.fix;
  return fmt::format("::{} {}title={}::{}\n", command_of(finding.severity), properties,
                     escaped_property(published_id(finding)), escaped_data(message));
}

}  // namespace

std::string escaped_data(std::string_view text) { return escaped(text, "%\r\n"); }
std::string escaped_property(std::string_view text) { return escaped(text, "%\r\n:,"); }

std::string check_annotations(const CheckAnswer& answer) {
  std::string text;
  for (const auto& checked : answer.findings)
    if (checked.standing == Standing::counts) text += annotation(checked, answer);
  return text;
}

}  // namespace shardplan
