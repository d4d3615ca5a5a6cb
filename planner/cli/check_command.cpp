// shardplan check --rules FILE|NAME [--model M] [--mesh axis=n,…] [--hardware H] [--chips N] [KEY=VALUE…]
#include <planner/check/check_request.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/run_flags.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/ci/github.hpp>
#include <planner/report/ci/sarif.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

void add_flags(CommandParser& parser, RunFlags& flags) {
  parser.add("--rules", flags.rules, "NAME|FILE", "The rules to check; MaxText's default set when left out");
  parser.add("--model", flags.model, "NAME|FILE", "One model; all of them when left out");
  parser.add("--mesh", flags.mesh, "axis=n,...", "One mesh; the usual ones of 8, 64 and 256 devices when left out");
  parser.add("--hardware", flags.hardware, "NAME|FILE", "The machine to price on (tpu-v5p)");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together; as many as the mesh needs when left out");
  add_slices_flag(parser, flags);
  add_config_flag(parser, flags);
  add_xla_flags(parser, flags.xla_flags);
  parser.add_words("KEY=VALUE", flags.key_values, "MaxText's own arguments; its defaults hold for the rest");
  parser.add_footer("Exit status: 0 nothing worse than a warning, 4 an error-level finding, 2 bad input.");
  parser.offer_formats({"text", "json", "sarif", "github"});
}

std::string print(const CheckAnswer& answer, Format format, const Style& style) {
  switch (format) {
    case Format::text:
      return check_text(answer, style);
    case Format::json:
      return check_json(answer);
    case Format::sarif:
      return check_sarif(answer);
    case Format::github:
      return check_annotations(answer);
  }
  throw InternalError("unknown Format");
}

}  // namespace

Task check_command(const Words& words) {
  CommandParser parser("What will go wrong with sharding rules: on all models and meshes, on one, or on one run.",
                       "shardplan check");
  RunFlags flags;
  add_flags(parser, flags);
  parser.parse(words);
  const CheckRequest request = read_check({flags.rules, flags.model, flags.mesh, read_machine_choice(flags),
                                           with_xla_flags(flags.key_values, flags.xla_flags), flags.config_file});
  return parser.task([request](Format format, const Style& style) {
    const CheckAnswer answer = check(request);
    return Answer{print(answer, format, style), answer.is_regression() ? Outcome::regression : Outcome::answered};
  });
}

}  // namespace shardplan
