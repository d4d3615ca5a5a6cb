#include <planner/cli/completion/completion_scripts.hpp>

namespace shardplan {

std::vector<Offered> first_words(const std::vector<CommandDescription>& commands) {
  std::vector<Offered> words;
  for (const CommandDescription& command : commands)
    if (words.empty() || words.back().word != command.word) words.push_back({command.word, command.summary});
  return words;
}

std::vector<Offered> second_words(const std::vector<CommandDescription>& commands, const std::string& word) {
  std::vector<Offered> words;
  for (const CommandDescription& command : commands)
    if (command.word == word && !command.subcommand.empty()) words.push_back({command.subcommand, command.summary});
  return words;
}

}  // namespace shardplan
