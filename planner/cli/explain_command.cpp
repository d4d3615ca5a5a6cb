// shardplan explain KEY=VALUE… | --model … --hardware … --chips … --rules … --mesh …
#include <planner/cli/commands.hpp>
#include <planner/cli/explain_words.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <arguments/maxtext_arguments.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

void add_flags(CommandParser& parser, ExplainFlags& flags) {
  parser.add("--model", flags.model, "NAME|FILE", "The same as model_name=NAME");
  parser.add("--hardware", flags.hardware, "NAME|FILE", "The machine, where compile_topology doesn't say it");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together");
  parser.add("--slices", flags.slices, "N", "TPU slices, or GPU nodes");
  parser.add("--rules", flags.rules, "NAME|FILE", "The same as custom_mesh_and_rule=NAME");
  parser.add("--mesh", flags.mesh, "axis=n,...", "The whole mesh; other axes have size 1");
  parser.add("--config", flags.config_file, "FILE", "A MaxText YAML file that stands in for any KEY=VALUE");
  parser.add("--program", flags.program, "NAME",
             "train or train_compile; default: train_compile with compile_topology");
  parser.add_words("KEY=VALUE", flags.key_values, "MaxText's own arguments; its defaults hold for the rest");
}

// Of what a configuration can break, a dim that an axis can't divide is a contradiction in the arguments; the rest (too
// little memory, a torus that can't hold the mesh, …) is an answer about a sound question.
bool is_contradiction(const Infeasible& infeasible) { return is_divisibility(infeasible.constraint); }

Answer answer_explain(const Configuration& configuration, Format format, const Style& style) {
  const Evaluation evaluation = evaluate(configuration);
  if (evaluation.infeasible && is_contradiction(*evaluation.infeasible))
    throw InputError(infeasible_text(*evaluation.infeasible));
  return {format == Format::json ? explanation_json(evaluation) : explanation_text(evaluation, style),
          evaluation.infeasible ? Outcome::nothing_feasible : Outcome::answered};
}

}  // namespace

Task explain_command(const Words& words) {
  CommandParser parser("What exactly one configuration costs, and why: every collective, memory and time.",
                       "shardplan explain");
  ExplainFlags flags;
  add_flags(parser, flags);
  parser.parse(words);
  const Configuration configuration =
      read_configuration(explain_words(flags), read_machine_choice(flags), flags.config_file);
  return parser.task(
      [configuration](Format format, const Style& style) { return answer_explain(configuration, format, style); });
}

}  // namespace shardplan
