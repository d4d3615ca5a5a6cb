#include <planner/cli/completion/completion_scripts.hpp>

namespace shardplan {

std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return all + "'";
}

std::vector<CommandDescription> command_groups(const std::vector<CommandDescription>& commands) {
  std::vector<CommandDescription> groups;
  for (CommandDescription command : commands) {
    command.name = command.name.substr(0, command.name.find(' '));
    if (groups.empty() || groups.back().name != command.name) groups.push_back(std::move(command));
  }
  return groups;
}

std::vector<CommandDescription> subcommands(const std::vector<CommandDescription>& commands, const std::string& group) {
  std::vector<CommandDescription> all;
  for (CommandDescription command : commands) {
    if (!command.name.starts_with(group + " ")) continue;
    command.name = command.name.substr(group.size() + 1);
    all.push_back(std::move(command));
  }
  return all;
}

}  // namespace shardplan
