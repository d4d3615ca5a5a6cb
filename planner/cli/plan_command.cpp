// shardplan [plan] --model NAME --chips N …
#include <algorithm>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/form_flag.hpp>
#include <planner/cli/flags/model_file_flag.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>
#include <planner/cli/flags/plan_flags.hpp>
#include <planner/report/json/json_plan.hpp>
#include <planner/report/text/text_plan.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

void add_flags(CommandParser& parser, PlanFlags& flags, bool& with_commands) {
  parser.add("--model", flags.model, "NAME|FILE",
             "A built-in model, a file of that form, or a Hugging Face config.json");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together; 1k is 1024");
  parser.add("--hardware", flags.hardware, "NAME|FILE[,...]|all",
             "Machines to compare (default: the five of today); v5p-16 says its 8 chips too");
  add_shared_plan_flags(parser, flags);
  parser.add("--objective", flags.objective, "GOAL", "throughput, memory or cost");
  parser.add("--price", flags.price, "NAME=DOLLARS[,...]", "Dollars an hour for a chip, for --objective cost");
  parser.add("--top", flags.top, "K", "Alternatives to keep");
  parser.add("--commands", with_commands, "Print the command of each alternative too");
}

// With a machine that was asked for by name, "no slice of 6 chips" is the user's mistake; among several it is a row.
void check_not_all_refused(const PlanAnswer& answer) {
  const auto refused = [](const MachinePlan& machine) { return !machine.refused.empty(); };
  if (answer.machines.empty()) throw InternalError("plan answered for no machine");
  if (!std::all_of(answer.machines.begin(), answer.machines.end(), refused)) return;
  std::string message;
  for (const auto& machine : answer.machines) message += (message.empty() ? "" : "; ") + machine.refused;
  throw InputError(message);
}

/// The best machine's plan; where nothing fits there is none to print.
std::optional<std::string> plan_form(const PlanAnswer& answer, RunForm form, const Style& style) {
  for (const MachinePlan& machine : answer.machines)
    if (machine.recommended) return run_text(*machine.recommended, form, style);
  return std::nullopt;
}

Answer answer_plan(const PlanRequest& request, std::optional<RunForm> form, Format format, const Style& style, bool with_commands) {
  check_form(form, format);
  const PlanAnswer answer = plan(request);
  check_not_all_refused(answer);
  if (form)
    if (const auto text = plan_form(answer, *form, style)) return {*text, Outcome::answered};
  const bool any = std::any_of(answer.machines.begin(), answer.machines.end(),
                               [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  return {format == Format::json ? plan_json(answer) : plan_text(answer, style, with_commands),
          any ? Outcome::answered : Outcome::nothing_feasible};
}

}  // namespace

Task plan_command(const Words& words) {
  CommandParser parser("The best mesh, rules and settings for a model on so many chips, machine by machine.",
                       "shardplan plan");
  PlanFlags flags;
  bool with_commands = false;
  add_flags(parser, flags, with_commands);
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
  return parser.task([request = read_plan_request(flags), model_out, with_commands, form = read_form(form)](Format format, const Style& style) {
    return with_model_file(answer_plan(request, form, format, style, with_commands), model_out, request.model,
                           format == Format::text && !form);
  });
}

}  // namespace shardplan
