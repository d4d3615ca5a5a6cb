// shardplan explain KEY=VALUE… | --model … --hardware … --chips … --rules … --mesh …
#include <planner/cli/commands.hpp>
#include <planner/cli/run_flags.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

// Of what a configuration can break, a dim that an axis can't divide is a contradiction in the arguments; the rest (too
// little memory, a torus that can't hold the mesh, …) is an answer about a sound question.
bool is_contradiction(const Infeasible& infeasible) { return is_divisibility(infeasible.constraint); }

Answer answer_explain(const Configuration& configuration, Format format, const Style& style) {
  const Evaluation evaluation = evaluate_to_show(configuration);
  if (evaluation.infeasible && is_contradiction(*evaluation.infeasible))
    throw InputError(infeasible_text(*evaluation.infeasible));
  return {format == Format::json ? explanation_json(evaluation) : explanation_text(evaluation, style),
          evaluation.infeasible ? Outcome::nothing_feasible : Outcome::answered};
}

}  // namespace

Task explain_command(const Words& words) {
  CommandParser parser("What exactly one configuration costs, and why: every collective, memory and time.",
                       "shardplan explain");
  RunFlags flags;
  add_run_flags(parser, flags, "The whole mesh; other axes have size 1",
                "MaxText's own arguments; its defaults hold for the rest");
  parser.parse(words);
  const Configuration configuration = read_configuration(flags);
  return parser.task(
      [configuration](Format format, const Style& style) { return answer_explain(configuration, format, style); });
}

}  // namespace shardplan
