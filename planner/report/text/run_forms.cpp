#include <fmt/format.h>

#include <arguments/megatron/megatron_run.hpp>
#include <arguments/print_configuration.hpp>
#include <array>
#include <planner/report/humanize.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/shown_arguments.hpp>
#include <planner/report/text/run_forms.hpp>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::array all_forms = {RunForm::maxtext, RunForm::yaml, RunForm::megatron};

/// wrap_text indents what follows by blanks; a comment has its sign on every line.
std::string commented(const std::string& text, const Style& style) {
  std::string lines = wrap_text(text, "# ", style.width());
  for (std::size_t at = 0; (at = lines.find("\n  ", at)) != std::string::npos; at += 3) lines.replace(at, 3, "\n# ");
  return lines;
}

/// Where the command would fail: whoever has the file alone has to see it there.
std::string verdict(const Evaluation& e, const Style& style) {
  if (!e.infeasible) return "";
  return commented(may_run(e) ? marginal_text(e.memory) : "does not run as it is: " + infeasible_text(*e.infeasible), style);
}

std::string title(const Evaluation& e, const Style& style) {
  return commented(fmt::format("{} on {} of {}: {}, {} rules, {}", e.model, counted(e.chips, "chip"), e.hardware,
                               describe(e.mesh), e.rules, print_time(e.time.with_routing()) + " a step"),
                   style) +
         verdict(e, style);
}

/// Flags that were given and that the command doesn't have.
std::string foreign_flags(const Evaluation& e, const Style& style) {
  std::string text;
  for (const CompilerFlag& flag : flags_of(*e.configuration))
    if (flag.effect == FlagEffect::foreign)
      text += commented(fmt::format("left out: {} (another compiler's)", print_flag(flag)), style);
  return text;
}

std::string maxtext_text(const Evaluation& e, const Style& style) {
  const auto commands = commands_of(e);
  if (!commands)
    throw InputError(fmt::format("--as maxtext: MaxText does not run on {}", e.hardware));
  return title(e, style) + foreign_flags(e, style) + command_lines(commands->train, 0, style.width()) + "\n";
}

/// What is the reader's to set, "${TOKENIZER_PATH?}" in a shell, as OmegaConf takes it from the environment.
std::string from_environment(const std::string& value) {
  const auto variable = readers_variable(value);
  return variable ? fmt::format("${{oc.env:{}}}", *variable) : value;
}

/// "[a,[b]]": MaxText reads its command line as YAML too, so that what is a list there is one in a file.
bool is_list(const std::string& value) {
  if (!value.starts_with('[')) return false;
  int depth = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '[') ++depth;
    if (value[i] == ']') --depth;
    if (depth == 0) return i + 1 == value.size();
  }
  return false;
}

/// Words that YAML takes for something else are quoted: the empty one, and what has its signs.
std::string yaml_value(const std::string& value) {
  const bool plain =
      !value.empty() && value.find_first_of(":#'\"&*!|>%@`{}[],") == value.npos && value.find(' ') == value.npos;
  if (plain || is_list(value)) return value;
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

/// Each line of a command behind a comment's sign.
std::string commented_command(const Command& command, const Style& style) {
  std::string lines = "#" + command_lines(command, 3, style.width() - 1);
  for (std::size_t at = 0; (at = lines.find('\n', at)) + 1 < lines.size(); at += 2) lines.insert(at + 1, "#");
  return lines;
}

/// What starts it: the environment, and the words that can't stand in the file.
std::string yaml_heading(const Evaluation& e, const RunFile& run, const Style& style) {
  std::string text = title(e, style) + foreign_flags(e, style);
  if (!run.words.empty())
    text += commented("MaxText's own file of a model wins over this one, and rules that stand here would replace MaxText's: "
                      "what differs there is for the command line, with the model's name, without which nothing starts",
                      style);
  Command command = commands_of(e) ? commands_of(e)->train : Command{};
  if (command.module.empty()) return text;
  command.arguments = run.words;
  command.config_file = "THIS.yml";
  return text + commented_command(command, style);
}

std::string yaml_text(const Evaluation& e, const Style& style) {
  const RunFile run = run_file(*e.configuration);
  std::string text = yaml_heading(e, run, style) + "base_config: base.yml\n";
  for (const auto& [key, value] : run.file) text += fmt::format("{}: {}\n", key, yaml_value(from_environment(value)));
  return text;
}

ShellWords environment_of(DeviceConnections connections) {
  switch (connections) {
    case DeviceConnections::any:
      return {};
    case DeviceConnections::one:
      return {"CUDA_DEVICE_MAX_CONNECTIONS=1"};
    case DeviceConnections::more_or_unset:
      return {"env -u CUDA_DEVICE_MAX_CONNECTIONS"};
  }
  throw InternalError("unknown DeviceConnections");
}

/// A flag stays on a line with its values.
std::string flags_text(const MegatronRun& run, const Style& style) {
  ShellWords words = environment_of(run.connections);
  for (const auto& word : {std::string("torchrun"), fmt::format("--nnodes {}", run.nodes),
                           fmt::format("--nproc-per-node {}", run.processes_per_node), std::string("pretrain_gpt.py")})
    words.push_back(word);
  for (const auto& [name, values] : run.flags) {
    words.push_back(name);
    for (const auto& value : values) words.back() += " " + shell_word(value);
  }
  return in_lines(words, 0, style.width());
}

std::string megatron_text(const Evaluation& e, const Style& style) {
  if (e.configuration->hardware.launch.hardware == MaxtextHardware::tpu)
    throw InputError(fmt::format("--as megatron: Megatron-LM runs on GPUs, not on {}", e.hardware));
  const MegatronRun run = megatron_run(*e.configuration);
  std::string text = title(e, style) +
                     commented(fmt::format("the same split with Megatron-LM d98e8a64d; tokenizer, data, --lr and "
                                           "--train-iters are yours to add{}",
                                           run.nodes > 1 ? ", and torchrun's --rdzv-endpoint" : ""),
                               style);
  for (const auto& [what, why] : run.untranslated)
    text += commented(fmt::format("no equivalent: {} ({})", what, why), style);
  for (const auto& [what, why] : run.unknown)
    text += commented(fmt::format("not known here: {} ({})", what, why), style);
  return text + flags_text(run, style);
}

}  // namespace

std::string_view name_of(RunForm form) {
  switch (form) {
    case RunForm::maxtext:
      return "maxtext";
    case RunForm::yaml:
      return "yaml";
    case RunForm::megatron:
      return "megatron";
  }
  throw InternalError("unknown RunForm");
}

std::span<const RunForm> run_forms() { return all_forms; }

std::string run_text(const Evaluation& evaluation, RunForm form, const Style& style) {
  if (!evaluation.configuration) throw InternalError("a run without its configuration");
  switch (form) {
    case RunForm::maxtext:
      return maxtext_text(evaluation, style);
    case RunForm::yaml:
      return yaml_text(evaluation, style);
    case RunForm::megatron:
      return megatron_text(evaluation, style);
  }
  throw InternalError("unknown RunForm");
}

}  // namespace shardplan
