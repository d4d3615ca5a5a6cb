// shardplan check --rules FILE|NAME [--model M] [--mesh axis=n,…] [--hardware H] [--chips N] [KEY=VALUE…]
#include <fmt/format.h>

#include <planner/check/check.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/flag_values.hpp>
#include <planner/cli/parse_words.hpp>
#include <arguments/given_arguments.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/ci/github.hpp>
#include <planner/report/ci/sarif.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct CheckFlags {
  std::optional<std::string> rules, model, mesh, hardware, chips, slices, config_file;
  Words key_values;
};

void add_flags(CommandParser& parser, CheckFlags& flags) {
  parser.add("--rules", flags.rules, "NAME|FILE", "The rules to check; MaxText's default set when left out");
  parser.add("--model", flags.model, "NAME|FILE", "One model; all of them when left out");
  parser.add("--mesh", flags.mesh, "axis=n,...", "One mesh; the usual ones of 8, 64 and 256 devices when left out");
  parser.add("--hardware", flags.hardware, "NAME|FILE", "The machine to price on (tpu-v5p)");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together; as many as the mesh needs when left out");
  parser.add("--slices", flags.slices, "N", "TPU slices, or GPU nodes");
  parser.add("--config", flags.config_file, "FILE", "A MaxText YAML file that stands in for any KEY=VALUE");
  parser.add_words("KEY=VALUE", flags.key_values, "MaxText's own arguments; its defaults hold for the rest");
  parser.add_footer("Exit status: 0 nothing worse than a warning, 4 an error-level finding, 2 bad input.");
  parser.offer_formats({"text", "json", "sarif", "github"});
}

/// What a flag or the KEY=VALUE words say; the word is taken out.
std::optional<std::string> take(Words& words, const std::string& key, const std::optional<std::string>& flag,
                                const std::string& flag_name) {
  std::optional<std::string> value = flag;
  std::erase_if(words, [&](const std::string& word) {
    if (!word.starts_with(key + "=")) return false;
    const std::string given = word.substr(key.size() + 1);
    if (value && *value != given) throw InputError(fmt::format("{}: {} {} is asked for too", word, flag_name, *value));
    value = given;
    return true;
  });
  return value;
}

CheckRequest read_request(CheckFlags flags) {
  CheckRequest request;
  const auto rules = take(flags.key_values, "custom_mesh_and_rule", flags.rules, "--rules");
  if (rules && !rules->empty()) request.rules = *rules;
  request.model = take(flags.key_values, "model_name", flags.model, "--model");
  request.mesh = flags.mesh;
  request.machine = {flags.hardware, parse_positive("--chips", flags.chips), parse_positive("--slices", flags.slices)};
  request.key_values = std::move(flags.key_values);
  request.config_file = flags.config_file;
  if (!request.config_file) return request;
  const GivenArguments in_file({}, request.config_file);
  if (!request.model && in_file.find("model_name")) request.model = in_file.text("model_name", "");
  if (!rules) request.rules = in_file.text("custom_mesh_and_rule", request.rules);
  if (request.rules.empty()) request.rules = "default";
  return request;
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
  CheckFlags flags;
  add_flags(parser, flags);
  parser.parse(words);
  const CheckRequest request = read_request(flags);
  return parser.task([request](Format format, const Style& style) {
    const CheckAnswer answer = check(request);
    return Answer{print(answer, format, style), answer.is_regression() ? Outcome::regression : Outcome::answered};
  });
}

}  // namespace shardplan
