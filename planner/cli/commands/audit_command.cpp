// shardplan audit --hlo FILE[.gz]|DIR (KEY=VALUE… | --mesh axis=n,…) [--baseline FILE] [--tolerance 5%] [--ignore-below
// 1MiB]
#include <arguments/flag_arguments.hpp>
#include <compilers/load_compiler.hpp>
#include <planner/audit/audit.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/run_flags.hpp>
#include <planner/cli/flags/trace_flag.hpp>
#include <planner/cli/streams/flag_remarks.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <arguments/words/given_arguments.hpp>
#include <planner/cli/verdict.hpp>
#include <planner/report/audit_report.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct AuditFlags {
  RunFlags run;
  std::optional<std::string> program, baseline, tolerance, ignore_below, trace;
  bool timeline = false;
};

void add_flags(CommandParser& parser, AuditFlags& flags) {
  parser.add("--hlo", flags.program, "FILE|DIR", "Optimized HLO text, plain or gzipped, or a dump folder");
  parser.add("--baseline", flags.baseline, "FILE|DIR", "An earlier program to compare with, in place of the plan");
  parser.add("--tolerance", flags.tolerance, "PERCENT", "Extra traffic that is no regression (5%)");
  parser.add("--ignore-below", flags.ignore_below, "SIZE", "Differences a step that are not worth a word (1MiB)");
  parser.add("--timeline", flags.timeline, "The step time of the program itself, from its schedule");
  add_trace_flag(parser, flags.trace);
  add_run_flags(parser, flags.run, "The mesh, where neither arguments nor the program name it",
                "MaxText's arguments of the run: the plan to compare with");
  parser.add_footer("Exit status: 0 no regression, 4 a regression or another error-level finding, 2 bad input.");
  offer_verdict_formats(parser);
}

AuditThresholds read_thresholds(const AuditFlags& flags) {
  AuditThresholds thresholds;
  if (flags.tolerance) thresholds.tolerance = parse_percentage("--tolerance", *flags.tolerance);
  if (flags.ignore_below) thresholds.ignore_below = parse_size("--ignore-below", *flags.ignore_below);
  return thresholds;
}

bool says_run(const RunFlags& run) { return run.model || run.rules || run.config_file || !run.key_values.empty(); }

/// Of a program that is there none are assumed: with others it would be another program.
RunFlags as_compiled(RunFlags run) {
  if (!run.xla_flags && !says_xla_flags(run.key_values)) run.xla_flags = no_flags;
  return run;
}

AuditRequest read_request(const AuditFlags& flags) {
  if (!flags.program) throw InputError("audit needs --hlo FILE, the program to look at");
  AuditRequest request;
  request.program = *flags.program;
  request.baseline = flags.baseline;
  request.thresholds = read_thresholds(flags);
  request.timeline = flags.timeline;
  if (flags.trace && !flags.timeline) throw InputError("--trace draws the program's schedule: give --timeline too");
  const MachineChoice machine = read_machine_choice(flags.run);
  if (says_run(flags.run)) {
    request.configuration = read_configuration(as_compiled(flags.run));
    return request;
  }
  if (!flags.baseline && (flags.tolerance || flags.ignore_below))
    throw InputError("--tolerance and --ignore-below are for a comparison: give --baseline, or the run's arguments");
  if (flags.run.program) throw InputError("--program is about the plan of a run: give its arguments");
  if (flags.run.reserve || flags.run.memory_fraction)
    throw InputError("--reserve-hbm and --memory-fraction are about the plan of a run: give its arguments");
  if (flags.run.mesh) request.mesh = read_axes(*flags.run.mesh);
  if (machine.hardware || machine.chips || machine.slices) {
    request.machine = read_machine(GivenArguments({}, {}), machine);
    request.compiler = compiler_of(request.machine->hardware, flags.run.xla_flags.value_or(""));
  } else if (flags.run.xla_flags) {
    throw InputError("--xla-flags says how the machine's compiler schedules: give --hardware, or the run's arguments");
  }
  return request;
}

/// The forms that CI services read are those of `check`. SARIF has to point at a file, which is the program;
/// annotations stand beside changed lines, of which it has none.
CheckAnswer as_check(const AuditAnswer& answer, bool points_at_program) {
  CheckAnswer check;
  check.rules = answer.program;
  check.rules_are_file = points_at_program;
  check.is_of_program = true;
  check.hardware = answer.hardware;
  for (const auto& finding : answer.findings) check.findings.push_back({finding, "", {}, {}, Standing::counts});
  return check;
}

std::string print(const AuditAnswer& answer, Format format, const Style& style) {
  const Printers printers{.text = [&] { return audit_text(answer, style); },
                          .json = [&] { return audit_json(answer); },
                          .markdown = [&] { return audit_markdown(answer); },
                          .title = answer.program + ": shardplan audit"};
  const auto as_check_of = [&](bool points_at_program) {
    return [&answer, points_at_program] { return as_check(answer, points_at_program); };
  };
  return print_answer(with_ci_forms(printers, as_check_of(true), as_check_of(false)), format);
}

/// The program, and beside it the plan that it is compared with.
std::vector<TraceProcess> traces_of(const AuditAnswer& answer, const AuditRequest& request) {
  std::vector<TraceProcess> processes = {program_trace(answer)};
  if (request.baseline || !request.configuration) return processes;
  Evaluation plan = evaluate(*request.configuration);
  plan.timeline = std::make_shared<const StepTimeline>(timeline_of(*request.configuration));
  processes.push_back(plan_trace(plan));
  processes.back().name = "plan: " + processes.back().name;
  return processes;
}

}  // namespace

Task audit_command(const Words& words) {
  CommandParser parser("What a compiled program communicates, against its plan or an earlier program.",
                       "shardplan audit");
  AuditFlags flags;
  add_flags(parser, flags);
  parser.add_example("shardplan audit --hlo step.hlo.gz --mesh expert=8", "the collectives of a compiled program");
  parser.add_example("shardplan audit --hlo step.hlo.gz --timeline --hardware h100 --chips 8 --mesh expert=8",
                     "its step time, and what the device waits for");
  parser.add_example("shardplan audit --hlo step.hlo.gz --baseline good.hlo.gz --mesh expert=8 --tolerance 5%",
                     "against an earlier one: exit status 4 where there are more");
  parser.parse(words);
  const AuditRequest request = read_request(flags);
  return parser.task([request, file = flags.trace](Format format, const Style& style) {
    const AuditAnswer found = audit(request);
    FlagRemarks remarks;
    if (request.configuration) remarks.add(found.hardware, request.configuration->compiler);
    else if (request.compiler) remarks.add(found.hardware, *request.compiler);
    Answer answer{print(found, format, style), outcome_of(found), {}, {}, remarks.text()};
    return file ? with_trace(std::move(answer), *file, traces_of(found, request)) : answer;
  });
}

}  // namespace shardplan
