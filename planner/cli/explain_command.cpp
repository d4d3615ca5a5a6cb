// shardplan explain KEY=VALUE… | --model … --hardware … --chips … --rules … --mesh …
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/model_file_flag.hpp>
#include <planner/cli/flags/run_flags.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/step_range.hpp>
#include <planner/fixes/weigh_findings.hpp>
#include <planner/fixes/weigh_flags.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// It runs, or may: a peak that is expected to be too large, but within what predictions are off by, is no refusal.
bool runs(const Evaluation& evaluation) {
  if (!evaluation.infeasible) return true;
  return evaluation.infeasible->constraint == ConstraintId::hbm && evaluation.memory.fit() != Fit::does_not_fit;
}

Answer answer_explain(const Configuration& configuration, Format format, const Style& style) {
  Evaluation evaluation = evaluate_to_show(configuration);
  // The rest (too little memory, a torus that can't hold the mesh, …) is an answer about a sound question.
  if (evaluation.infeasible && is_contradiction(evaluation.infeasible->constraint))
    throw InputError(infeasible_text(*evaluation.infeasible));
  evaluation.findings = weigh_findings(configuration, evaluation).findings;
  evaluation.assumed = assumed_steps(configuration, evaluation);
  evaluation.flag_worths = weigh_flags(configuration, evaluation);
  return {format == Format::json ? explanation_json(evaluation) : explanation_text(evaluation, style),
          runs(evaluation) ? Outcome::answered : Outcome::nothing_feasible};
}

}  // namespace

Task explain_command(const Words& words) {
  CommandParser parser("What exactly one configuration costs, and why: every collective, memory and time.",
                       "shardplan explain");
  RunFlags flags;
  add_run_flags(parser, flags, "The whole mesh; other axes have size 1",
                "MaxText's own arguments; its defaults hold for the rest");
  std::optional<std::string> model_out;
  add_model_out_flag(parser, model_out);
  parser.parse(words);
  return parser.task([configuration = read_configuration(flags), model_out](Format format, const Style& style) {
    return with_model_file(answer_explain(configuration, format, style), model_out, configuration.model, format);
  });
}

}  // namespace shardplan
