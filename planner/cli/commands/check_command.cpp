// shardplan check --rules FILE|NAME [--model M] [--mesh axis=n,…] [--hardware H] [--chips N] [KEY=VALUE…]
//                 [--baseline FILE] [--ignore ID[:PLACE]]… [--fail-on error|warning]
#include <array>
#include <formats/named_value.hpp>
#include <planner/check/check_request.hpp>
#include <planner/check/judge.hpp>
#include <planner/check/read_baseline.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/run_flags.hpp>
#include <planner/cli/streams/flag_remarks.hpp>
#include <planner/cli/verdict.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::array gravities = {Severity::error, Severity::warning};

struct CheckFlags {
  RunFlags run;
  std::optional<std::string> baseline, fail_on;
  Words ignored;
};

void add_run_flags(CommandParser& parser, RunFlags& flags) {
  parser.add("--rules", flags.rules, "NAME|FILE", "The rules to check; MaxText's default set when left out");
  parser.add("--model", flags.model, "NAME|FILE", "One model; all of them when left out");
  parser.add("--mesh", flags.mesh, "axis=n,...", "One mesh; the usual ones of 8, 64 and 256 devices when left out");
  parser.add("--hardware", flags.hardware, "NAME|FILE", "The machine to price on (tpu-v5p)");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together; as many as the mesh needs when left out");
  add_slices_flag(parser, flags);
  add_config_flag(parser, flags);
  add_xla_flags(parser, flags.xla_flags);
  parser.add_settings(flags.key_values, "MaxText's own arguments; its defaults hold for the rest");
}

void add_flags(CommandParser& parser, CheckFlags& flags) {
  add_run_flags(parser, flags.run);
  parser.add("--baseline", flags.baseline, "FILE", "An earlier check (--format json or sarif): only new findings count");
  parser.add_repeatable("--ignore", flags.ignored, "ID[:PLACE]",
                        "A finding that doesn't count, on any rule, model and mesh or on that one; may be repeated");
  parser.add("--fail-on", flags.fail_on, "SEVERITY", "error (the default) or warning", names_of(gravities));
  parser.add_footer("Exit status: 0 no finding that counts, 4 one as grave as --fail-on says, 2 bad input.");
  offer_verdict_formats(parser);
}

std::string print(const CheckAnswer& answer, Format format, const Style& style) {
  const Printers printers{.text = [&] { return check_text(answer, style); },
                          .json = [&] { return check_json(answer); },
                          .markdown = [&] { return check_markdown(answer); },
                          .title = "rules " + answer.rules + ": shardplan check"};
  const auto same = [&] { return answer; };
  return print_answer(with_ci_forms(printers, same, same), format);
}

CheckPolicy read_policy(const CheckFlags& flags) {
  CheckPolicy policy;
  if (flags.baseline) policy.baseline = read_baseline(*flags.baseline);
  for (const auto& text : flags.ignored) policy.ignored.push_back(parse_ignored(text));
  if (flags.fail_on) policy.fail_on = enumerator_named(gravities, "value", *flags.fail_on, "--fail-on");
  return policy;
}

}  // namespace

Task check_command(const Words& words) {
  CommandParser parser("What will go wrong with sharding rules: on all models and meshes, on one, or on one run.",
                       "shardplan check");
  CheckFlags flags;
  add_flags(parser, flags);
  parser.add_example("shardplan check --rules my_rules.yml --model mixtral-8x7b --mesh expert=8",
                     "rules of your own, on one model and mesh");
  parser.add_example("shardplan check --rules cp-as-ep --model mixtral-8x7b --format github",
                     "annotations for a pull request");
  parser.parse(words);
  const RunFlags& run = flags.run;
  check_key_values(run.key_values, "--rules");
  const CheckPolicy policy = read_policy(flags);
  const CheckRequest request = read_check({run.rules, run.model, run.mesh, read_machine_choice(run),
                                           with_xla_flags(run.key_values, run.xla_flags), run.config_file});
  return parser.task([request, policy](Format format, const Style& style) {
    CheckAnswer answer = check(request);
    judge(answer, policy);
    FlagRemarks remarks;
    remarks.add(answer.hardware, request.run.compiler);
    return Answer{print(answer, format, style), outcome_of(answer), {}, {}, remarks.text()};
  });
}

}  // namespace shardplan
