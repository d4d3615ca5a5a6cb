// shardplan [plan] --model NAME --chips N …
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/form_flag.hpp>
#include <planner/cli/flags/model_file_flag.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>
#include <planner/cli/flags/search_flags.hpp>
#include <planner/cli/flags/what_if_flag.hpp>
#include <planner/cli/print_answer.hpp>
#include <planner/cli/streams/search_progress.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/report/json/json_plan.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/text/plan/text_plan.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

void add_flags(CommandParser& parser, PlanFlags& flags, PlanParts& parts) {
  add_search_flags(parser, flags);
  add_mesh_and_settings(parser, flags);
  parser.add("--top", flags.top, "K", "Alternatives to keep");
  parser.add("--time-limit", flags.time_limit, "30s",
             "The best plan that is found in this time, and what was left");
  parser.add("--memory-limit", flags.memory_limit, "4GiB", "Likewise of this process' memory");
  parser.add("--commands", parts.commands, "Print the command of each alternative too");
  add_what_if_flag(parser, parts.what_if);
  parser.offer_formats({"text", "json", "markdown", "html"});
}

// With a machine that was asked for by name, "no slice of 6 chips" is the user's mistake; among several it is a row.
void check_not_all_refused(const PlanAnswer& answer) {
  const auto refused = [](const MachinePlan& machine) { return !machine.refused.empty(); };
  if (answer.machines.empty()) throw InternalError("plan answered for no machine");
  if (!std::all_of(answer.machines.begin(), answer.machines.end(), refused)) return;
  std::vector<std::string> reasons;
  for (const auto& machine : answer.machines)
    if (std::find(reasons.begin(), reasons.end(), machine.refused) == reasons.end()) reasons.push_back(machine.refused);
  throw InputError(fmt::format("{}", fmt::join(reasons, "; ")));
}

/// What the answer shows: the front is for pages and programs.
Beside shown_beside(std::optional<RunForm> form, Format format) {
  if (form) return Beside::nothing;
  return format == Format::json || format == Format::html ? Beside::front : Beside::alternatives;
}

/// Of what is recommended.
void draw_timelines(PlanAnswer& answer) {
  for (MachinePlan& machine : answer.machines)
    if (machine.recommended)
      machine.recommended->timeline =
          std::make_shared<const StepTimeline>(timeline_of(*machine.recommended->configuration));
}

/// The best machine's plan; where nothing fits there is none to print.
Answer plan_form(const PlanAnswer& answer, RunForm form, const Style& style) {
  for (const MachinePlan& machine : answer.machines)
    if (machine.recommended) return {run_text(*machine.recommended, form, style)};
  return {.text = {},
          .outcome = Outcome::nothing_feasible,
          .complaint = fmt::format("--as {}: {} fits on {} of no machine that was asked for; without --as it is said why",
                                   name_of(form), answer.model, counted(answer.chips, "chip"))};
}

PlanAnswer watched_plan(const PlanRequest& request) {
  SearchProgressLine line;
  return plan(request, [&line](const SearchProgress& progress) { line.show(progress); });
}

Answer answer_plan(PlanRequest request, std::optional<RunForm> form, Format format, const Style& style,
                   const PlanParts& parts) {
  check_form(form, format);
  request.beside = shown_beside(form, format);
  PlanAnswer answer = watched_plan(request);
  check_not_all_refused(answer);
  draw_timelines(answer);
  if (form) return plan_form(answer, *form, style);
  const bool any = std::any_of(answer.machines.begin(), answer.machines.end(),
                               [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  const Printers printers{.text = [&] { return plan_text(answer, style, parts); },
                          .json = [&] { return plan_json(answer); },
                          .markdown = [&] { return plan_markdown(answer); },
                          .title = fmt::format("{} on {} chips: shardplan plan", answer.model, answer.chips)};
  return {print_answer(printers, format),
          any ? Outcome::answered : Outcome::nothing_feasible};
}

}  // namespace

Task plan_command(const Words& words) {
  CommandParser parser("The best mesh, rules and settings for a model on so many chips, machine by machine.",
                       "shardplan plan");
  PlanFlags flags;
  PlanParts parts;
  add_flags(parser, flags, parts);
  std::optional<std::string> model_out, form;
  add_form_flag(parser, form);
  add_model_out_flag(parser, model_out);
  parser.add_example("shardplan --model llama3.1-8b --chips 8 --hardware h100,tpu-v5p --rules default --remat "
                     "full --global-batch-tokens 256k",
                     "which mesh, on two machines, with rules, remat policy and batch given");
  parser.add_example("shardplan plan --model llama2-7b --hardware v5p-16 --mesh tensor=2 --rules default "
                     "--remat full --global-batch-tokens 256k",
                     "the best mesh of 8 chips that has tensor=2");
  parser.add_example("shardplan --model llama2-7b --chips 8 --hardware h100 --rules default --remat full "
                     "--global-batch-tokens 256k --as yaml",
                     "the recommended run as a YAML file of MaxText");
  parser.parse(words);
  return parser.task([request = read_plan_request(flags), model_out, parts, form = read_form(form)](
                         Format format, const Style& style) {
    return with_model_file(answer_plan(request, form, format, style, parts), model_out, request.model,
                           format == Format::text && !form);
  });
}

}  // namespace shardplan
