#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <models/model_names.hpp>
#include <planner/cli/command_table.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/help.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

struct CommandRow {
  std::string_view name, subcommand;
  Task (*read)(const Words&);
  std::string_view synopsis, summary;
};

constexpr std::array commands = {
    CommandRow{"plan", "", plan_command, "[plan] --model NAME|FILE --chips N …", "the best parallelism on each machine"},
    CommandRow{"explain", "", explain_command, "explain KEY=VALUE…", "cost exactly one MaxText configuration"},
    CommandRow{"compare", "", compare_command, "compare --model NAME|FILE --chips N …",
            "rule sets, meshes and paths side by side"},
    CommandRow{"sweep", "", sweep_command, "sweep --model NAME,… --chips A..B …",
            "what training costs on every machine and size"},
    CommandRow{"sweep", "merge", sweep_merge_command, "sweep merge FILE…", "the shards of a sweep as one"},
    CommandRow{"check", "", check_command, "check --rules NAME|FILE …", "what will go wrong with sharding rules"},
    CommandRow{"audit", "", audit_command, "audit --hlo FILE KEY=VALUE…", "a compiled program against its plan"},
    CommandRow{"calibrate", "", calibrate_command, "calibrate --hardware NAME --from FILE -o FILE",
            "a machine's figures as measurements say"},
    CommandRow{"hardware", "list", hardware_list_command, "hardware list", "the machines"},
    CommandRow{"hardware", "show", hardware_show_command, "hardware show NAME|FILE", "a machine's profile"},
    CommandRow{"hardware", "init", hardware_init_command, "hardware init NAME [--like NAME|FILE]",
            "a profile of your own to start from"},
    CommandRow{"models", "list", models_list_command, "models list", "the models"},
    CommandRow{"models", "show", models_show_command, "models show NAME|FILE", "a model's configuration"},
    CommandRow{"models", "init", models_init_command, "models init NAME [--like NAME|FILE]",
            "a model file of your own to start from"},
    CommandRow{"rules", "list", rules_list_command, "rules list", "the sharding rule sets"},
    CommandRow{"rules", "show", rules_show_command, "rules show NAME|FILE", "a rule set, in MaxText's YAML"},
    CommandRow{"rules", "resolve", rules_resolve_command, "rules resolve NAME|FILE --mesh axis=n,… AXIS…",
            "the PartitionSpec of one tensor"},
    CommandRow{"validate", "", validate_command, "validate [--ablate] [RECORD…]",
            "predictions against recorded compiler output"},
    CommandRow{"completion", "", completion_command, "completion bash|zsh|fish", "a script that completes command lines"},
    CommandRow{"man", "", man_command, "man", "the manual page"},
};

/// What people type for a command.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {{"model", "models"}, {"rule", "rules"}};

constexpr std::size_t summary_column = 52;

std::size_t help_width() { return style_of({}).width(); }

std::string entry_of(const CommandRow& command) {
  return help_entry(std::string(command.synopsis), std::string(command.summary), summary_column, help_width());
}

std::string help_text() {
  const std::size_t width = std::min<std::size_t>(help_width(), 100);
  const auto paragraph = [&](const std::string& text) { return wrap_text(text, "", width); };
  std::string text = paragraph("Plans how to shard the training of a language model with MaxText: which mesh, which rules, "
                               "what it costs, and why.") +
                     "\nUsage: shardplan COMMAND …\n\n";
  for (const auto& command : commands) text += entry_of(command);
  text += "\n" + paragraph("shardplan COMMAND --help lists the flags of a command. Every command takes --format text|json, "
                           "-o FILE and --color auto|always|never; plan, explain, compare, check and audit --format "
                           "markdown|html too, sweep html. shardplan help COMMAND says the same.");
  const std::string status = "Exit status: 0 answered, 1 internal error, 2 bad input, 3 nothing feasible, 4 a regression "
                             "or an error-level finding.";
  return text + "\n" + paragraph(status);
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : commands)
    if (std::find(names.begin(), names.end(), command.name) == names.end()) names.emplace_back(command.name);
  return names;
}

std::vector<std::string> subcommands_of(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& command : commands)
    if (command.name == name && !command.subcommand.empty()) names.emplace_back(command.subcommand);
  return names;
}

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h" || word == "help"; }

bool means_plan(const Words& words) {
  return words[0].starts_with('-') || words[0].find('=') != std::string::npos;
}

const CommandRow* find_command(std::string_view name, std::string_view subcommand) {
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const CommandRow& command) {
    return command.name == name && command.subcommand == subcommand;
  });
  return found == commands.end() ? nullptr : &*found;
}

CommandDescription describe(const CommandRow& command) try {
  command.read({"--help"});
  throw InternalError(fmt::format("{} has no --help", command.name));
} catch (const HelpRequest& help) {
  CommandDescription description = help.command;
  description.word = command.name;
  description.subcommand = command.subcommand;
  description.synopsis = command.synopsis;
  description.summary = command.summary;
  return description;
}

/// Of `hardware --help`: what can follow.
std::string group_help(std::string_view name) {
  std::string text = fmt::format("Usage: shardplan {} COMMAND …\n\n", name);
  std::vector<Example> examples;
  for (const auto& command : commands) {
    if (command.name != name) continue;
    text += entry_of(command);
    for (Example& example : describe(command).examples) examples.push_back(std::move(example));
  }
  return text + help_examples(examples, help_width());
}

Task read_subcommand(const Words& words) {
  const auto subcommands = subcommands_of(words[0]);
  if (words.size() > 1)
    if (const CommandRow* command = find_command(words[0], words[1])) return command->read({words.begin() + 2, words.end()});
  if (const CommandRow* command = find_command(words[0], "")) return command->read({words.begin() + 1, words.end()});
  if (words.size() == 2 && asks_for_help(words[1])) throw HelpRequest{group_help(words[0])};
  if (words.size() < 2 || words[1].starts_with('-'))
    throw InputError(fmt::format("{} needs one of: {}", words[0], fmt::join(subcommands, ", ")));
  throw InputError(unknown_name(fmt::format("{} command", words[0]), words[1], subcommands));
}

std::string unknown_command(const std::string& word) {
  if (nearest_names(word, command_names()).empty() && model_called(word))
    return fmt::format("unknown command '{}'; for the model give --model {} --chips N", word, word);
  return unknown_name("command", word, command_names()) + "; see shardplan --help";
}

/// "help sweep merge" → "sweep merge --help"
Words as_flag(Words words) {
  if (words.size() < 2 || words[0] != "help") return words;
  if (asks_for_help(words[1])) return {"--help"};
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

}  // namespace

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> all;
  for (const CommandRow& command : commands) all.push_back(describe(command));
  return all;
}

Task read_command_line(Words words) {
  words = as_flag(std::move(words));
  if (words.size() == 1 && asks_for_help(words[0])) throw HelpRequest{help_text()};
  if (words.empty())
    throw InputError("what to do? `shardplan --model NAME --chips N` plans, `shardplan --help` lists the commands");
  if (means_plan(words)) return plan_command(words);
  for (const auto& [alias, name] : aliases)
    if (words[0] == alias) words[0] = name;
  if (!subcommands_of(words[0]).empty()) return read_subcommand(words);
  if (const CommandRow* command = find_command(words[0], "")) return command->read({words.begin() + 1, words.end()});
  throw InputError(unknown_command(words[0]));
}

}  // namespace shardplan
