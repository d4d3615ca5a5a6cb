// shardplan audit --hlo FILE[.gz]|DIR (KEY=VALUE… | --mesh axis=n,…) [--baseline FILE] [--tolerance 5%] [--ignore-below
// 1MiB]
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <planner/audit/audit.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/run_flags.hpp>
#include <arguments/words/given_arguments.hpp>
#include <planner/report/audit_report.hpp>
#include <planner/report/ci/github.hpp>
#include <planner/report/ci/sarif.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct AuditFlags {
  RunFlags run;
  std::optional<std::string> program, baseline, tolerance, ignore_below;
};

void add_flags(CommandParser& parser, AuditFlags& flags) {
  parser.add("--hlo", flags.program, "FILE|DIR", "Optimized HLO text, plain or gzipped, or a dump folder");
  parser.add("--baseline", flags.baseline, "FILE|DIR", "An earlier program to compare with, in place of the plan");
  parser.add("--tolerance", flags.tolerance, "PERCENT", "Extra traffic that is no regression (5%)");
  parser.add("--ignore-below", flags.ignore_below, "SIZE", "Differences a step that are not worth a word (1MiB)");
  add_run_flags(parser, flags.run, "The mesh, where neither arguments nor the program name it",
                "MaxText's arguments of the run: the plan to compare with");
  parser.add_footer("Exit status: 0 no regression, 4 a regression or another error-level finding, 2 bad input.");
  parser.offer_formats({"text", "json", "sarif", "github"});
}

/// A number above or at 0, and what stands behind it.
std::pair<double, std::string_view> parse_amount(const std::string& flag, std::string_view text) {
  double number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0 && number < 1e15))
    throw InputError(fmt::format("{} {}: expected a number of at least 0", flag, text));
  return {number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

double parse_tolerance(const std::string& text) {
  const auto [number, unit] = parse_amount("--tolerance", text);
  if (unit != "%") throw InputError(fmt::format("--tolerance {}: expected a percentage, such as 5%", text));
  return number / 100;
}

Bytes parse_size(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 9> units = {{{"", 1},
                                                                         {"B", 1},
                                                                         {"kB", 1e3},
                                                                         {"MB", 1e6},
                                                                         {"GB", 1e9},
                                                                         {"KiB", 1024.0},
                                                                         {"MiB", 1024.0 * 1024},
                                                                         {"GiB", 1024.0 * 1024 * 1024},
                                                                         {"TB", 1e12}}};
  const auto [number, given] = parse_amount("--ignore-below", text);
  for (const auto& [unit, factor] : units)
    if (unit == given && number * factor < 9e18) return {static_cast<std::int64_t>(number * factor)};
  throw InputError(fmt::format("--ignore-below {}: expected a size, such as 1MiB, 500kB or 4096", text));
}

AuditThresholds read_thresholds(const AuditFlags& flags) {
  AuditThresholds thresholds;
  if (flags.tolerance) thresholds.tolerance = parse_tolerance(*flags.tolerance);
  if (flags.ignore_below) thresholds.ignore_below = parse_size(*flags.ignore_below);
  return thresholds;
}

bool says_run(const RunFlags& run) { return run.model || run.rules || run.config_file || !run.key_values.empty(); }

AuditRequest read_request(const AuditFlags& flags) {
  if (!flags.program) throw InputError("audit needs --hlo FILE, the program to look at");
  AuditRequest request;
  request.program = *flags.program;
  request.baseline = flags.baseline;
  request.thresholds = read_thresholds(flags);
  const MachineChoice machine = read_machine_choice(flags.run);
  if (says_run(flags.run)) {
    request.configuration = read_configuration(flags.run);
    return request;
  }
  if (flags.run.mesh) request.mesh = read_axes(*flags.run.mesh);
  if (machine.hardware || machine.chips || machine.slices)
    request.machine = read_machine(GivenArguments({}, {}), machine);
  return request;
}

/// The forms that CI services read are those of `check`.
CheckAnswer as_check(const AuditAnswer& answer) {
  CheckAnswer check;
  check.rules = answer.program;
  check.hardware = answer.hardware;
  for (const auto& finding : answer.findings) check.findings.push_back({finding, "", {}, {}});
  return check;
}

std::string print(const AuditAnswer& answer, Format format, const Style& style) {
  switch (format) {
    case Format::text:
      return audit_text(answer, style);
    case Format::json:
      return audit_json(answer);
    case Format::sarif:
      return check_sarif(as_check(answer));
    case Format::github:
      return check_annotations(as_check(answer));
  }
  throw InternalError("unknown Format");
}

}  // namespace

Task audit_command(const Words& words) {
  CommandParser parser("What a compiled program communicates, against its plan or an earlier program.",
                       "shardplan audit");
  AuditFlags flags;
  add_flags(parser, flags);
  parser.parse(words);
  const AuditRequest request = read_request(flags);
  return parser.task([request](Format format, const Style& style) {
    const AuditAnswer answer = audit(request);
    return Answer{print(answer, format, style), answer.is_regression() ? Outcome::regression : Outcome::answered};
  });
}

}  // namespace shardplan
