// shardplan [plan] --model NAME --chips N …
#include <algorithm>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/model_file_flag.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>
#include <planner/cli/flags/run_flags.hpp>
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
  parser.add("--slices", flags.slices, "N", "TPU slices, or GPU nodes, that the chips are in");
  parser.add("--seq-len", flags.sequence_length, "S", "Tokens of a sequence (max_target_length); 4k is 4096");
  parser.add("--per-device-batch", flags.per_device_batch, "B", "Sequences a device (default: searched)");
  parser.add("--global-batch-tokens", flags.global_batch_tokens, "T",
             "Tokens of a step on all devices; 4M is 4 x 1024 x 1024");
  parser.add("--max-batch-tokens", flags.max_batch_tokens, "T",
             "Tokens of a step that the search does not exceed (default: 64M, the largest published batches)");
  parser.add("--rules", flags.rules, "NAME|FILE[,...]|all", "Sharding rule sets to try (default: all)");
  parser.add("--mesh", flags.mesh, "axis=n,...", "Sizes of these mesh axes; the others are searched");
  parser.add("--moe", flags.moe, "PATH", "dropping, ragged, ring or all (default: all)");
  parser.add("--remat", flags.remat, "POLICY[,...]|all", "Rematerialization policies to try (default: all)");
  parser.add("--optimizer", flags.optimizer, "NAME", "adamw, muon or sgd");
  add_memory_flags(parser, flags.reserve, flags.memory_fraction);
  parser.add("--objective", flags.objective, "GOAL", "throughput, memory or cost");
  add_xla_flags(parser, flags.xla_flags);
  parser.add("--price", flags.price, "NAME=DOLLARS[,...]", "Dollars an hour for a chip, for --objective cost");
  parser.add("--top", flags.top, "K", "Alternatives to keep");
  parser.add("--commands", with_commands, "Print the command of each alternative too");
  parser.add_words("KEY=VALUE", flags.key_values, "MaxText settings that hold for every candidate");
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

Answer answer_plan(const PlanRequest& request, Format format, const Style& style, bool with_commands) {
  const PlanAnswer answer = plan(request);
  check_not_all_refused(answer);
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
  std::optional<std::string> model_out;
  add_model_out_flag(parser, model_out);
  parser.parse(words);
  return parser.task([request = read_plan_request(flags), model_out, with_commands](Format format, const Style& style) {
    return with_model_file(answer_plan(request, format, style, with_commands), model_out, request.model, format);
  });
}

}  // namespace shardplan
