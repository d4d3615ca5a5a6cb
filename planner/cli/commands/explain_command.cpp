// shardplan explain KEY=VALUE… | --model … --hardware … --chips … --rules … --mesh …
#include <fmt/format.h>

#include <planner/cli/commands.hpp>
#include <planner/cli/flags/form_flag.hpp>
#include <planner/cli/flags/launch_words.hpp>
#include <planner/cli/flags/model_file_flag.hpp>
#include <planner/cli/flags/run_flags.hpp>
#include <planner/cli/flags/trace_flag.hpp>
#include <planner/cli/flags/what_if_flag.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/flagged_memory.hpp>
#include <planner/evaluate/step_range.hpp>
#include <planner/fixes/weigh_findings.hpp>
#include <planner/cli/print_answer.hpp>
#include <planner/fixes/weigh_flags.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/text/plan/text_what_if.hpp>
#include <planner/what_if/what_if.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string print_explain(const Configuration& configuration, Evaluation& evaluation, bool with_what_if, Format format,
                          const Style& style) {
  evaluation.findings = weigh_findings(configuration, evaluation).findings;
  evaluation.assumed = assumed_steps(configuration, evaluation);
  evaluation.flag_worths = weigh_flags(configuration, evaluation);
  const auto what_ifs = [&] { return what_ifs_of(configuration, evaluation); };
  const Printers printers{.text = [&] { return explanation_text(evaluation, style) +
                                               (with_what_if ? what_if_section(what_ifs(), style) : ""); },
                          .json = [&] { return explanation_json(evaluation, what_ifs()); },
                          .markdown = [&] { return explanation_markdown(evaluation); },
                          .title = fmt::format("{} on {} chips of {}: shardplan explain", evaluation.model, evaluation.chips,
                                               evaluation.hardware)};
  return print_answer(printers, format);
}

/// What is wanted of one run.
struct ExplainWishes {
  std::optional<RunForm> form;
  std::optional<std::string> trace;
  bool what_if = false;  ///< in text too
};

Answer answer_explain(const Configuration& configuration, const ExplainWishes& wishes, Format format, const Style& style) {
  check_form(wishes.form, format);
  Evaluation evaluation = evaluate_to_show(configuration);
  span_assumed_flags(evaluation.memory, configuration);
  // The rest (too little memory, a torus that can't hold the mesh, …) is an answer about a sound question.
  if (evaluation.infeasible && is_contradiction(evaluation.infeasible->constraint))
    throw InputError(infeasible_text(*evaluation.infeasible));
  const Outcome outcome = may_run(evaluation) ? Outcome::answered : Outcome::nothing_feasible;
  evaluation.timeline = std::make_shared<const StepTimeline>(timeline_of(configuration));
  Answer answer{wishes.form ? run_text(evaluation, *wishes.form, style)
                            : print_explain(configuration, evaluation, wishes.what_if, format, style),
                outcome};
  return wishes.trace ? with_trace(std::move(answer), *wishes.trace, {plan_trace(evaluation)}) : answer;
}

}  // namespace

Task explain_command(const Words& words) {
  CommandParser parser("What exactly one configuration costs, and why: every collective, memory and time.",
                       "shardplan explain");
  RunFlags flags;
  add_run_flags(parser, flags, "The whole mesh; other axes have size 1",
                "MaxText's own arguments; its defaults hold for the rest");
  parser.offer_formats({"text", "json", "markdown", "html"});
  std::optional<std::string> model_out, form, trace;
  add_form_flag(parser, form);
  add_model_out_flag(parser, model_out);
  add_trace_flag(parser, trace);
  bool what_if = false;
  add_what_if_flag(parser, what_if);
  parser.add_example("shardplan explain model_name=mixtral-8x7b compile_topology=v5p-32 "
                     "ici_expert_parallelism=4 per_device_batch_size=2",
                     "what exactly these arguments of MaxText cost");
  parser.add_example("shardplan explain --model llama3-70b --hardware h100 --chips 64 --mesh data=2,fsdp=32 "
                     "attention=cudnn_flash_te per_device_batch_size=2",
                     "the same on GPUs, by flags");
  parser.add_example("shardplan explain --model llama2-7b --hardware h100 --chips 16 --mesh fsdp=8,tensor=2 "
                     "attention=cudnn_flash_te per_device_batch_size=1 --as megatron",
                     "the same split in Megatron-LM's flags");
  parser.add_example("shardplan explain --model llama2-7b --hardware h100 --chips 8 --mesh fsdp=8 "
                     "attention=cudnn_flash_te --trace step.trace.json",
                     "and the step as a trace, for ui.perfetto.dev");
  parser.add_example("shardplan explain --hardware v5p-16 python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b "
                     "ici_fsdp_parallelism=8 per_device_batch_size=2",
                     "a launch of MaxText, pasted");
  parser.parse(without_launch(words));
  const ExplainWishes wishes{read_form(form), trace, what_if};
  return parser.task([configuration = read_configuration(flags), model_out, wishes](Format format, const Style& style) {
    return with_model_file(answer_explain(configuration, wishes, format, style), model_out, configuration.model,
                           format == Format::text && !wishes.form);
  });
}

}  // namespace shardplan
