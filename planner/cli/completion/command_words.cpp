#include <planner/cli/completion/completion_scripts.hpp>

namespace shardplan {
namespace {

/// "help plan": `plan --help`. No command of the table: any may stand behind it.
constexpr std::string_view help = "help";

std::vector<Offered> command_words(const std::vector<CommandDescription>& commands) {
  std::vector<Offered> words;
  for (const CommandDescription& command : commands)
    if (words.empty() || words.back().word != command.word) words.push_back({command.word, command.summary});
  return words;
}

}  // namespace

std::vector<Offered> first_words(const std::vector<CommandDescription>& commands) {
  std::vector<Offered> words = command_words(commands);
  words.push_back({std::string(help), "what a command takes, with examples"});
  return words;
}

std::vector<Offered> second_words(const std::vector<CommandDescription>& commands, const std::string& word) {
  if (word == help) return command_words(commands);
  std::vector<Offered> words;
  for (const CommandDescription& command : commands)
    if (command.word == word && !command.subcommand.empty()) words.push_back({command.subcommand, command.summary});
  return words;
}

}  // namespace shardplan
