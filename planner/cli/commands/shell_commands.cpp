// shardplan completion bash|zsh|fish, shardplan man: what a shell and a manual reader want to know of the commands.
#include <fmt/format.h>

#include <planner/cli/command_table.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/completion/completion_scripts.hpp>
#include <planner/cli/manual.hpp>
#include <planner/cli/parse_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Script = std::string (*)(const std::vector<CommandDescription>&);

constexpr std::pair<std::string_view, Script> shells[] = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const auto& [name, script] : shells) names.emplace_back(name);
  return names;
}

Script script_for(const std::optional<std::string>& shell) {
  for (const auto& [name, script] : shells)
    if (shell == name) return script;
  if (!shell) throw InputError("completion needs a SHELL: bash, zsh or fish");
  throw InputError(unknown_name("shell", *shell, shell_names()));
}

}  // namespace

Task completion_command(const Words& words) {
  CommandParser parser("A script that completes shardplan's command lines in a shell.", "shardplan completion");
  parser.offer_formats({"text"});
  std::optional<std::string> shell;
  parser.add("SHELL", shell, "", "bash, zsh or fish", shell_names());
  parser.add_example("shardplan completion bash", "for ~/.bashrc: source <(shardplan completion bash)");
  parser.parse(words);
  return parser.task([script = script_for(shell)](Format, const Style&) {
    return Answer{script(describe_commands()), Outcome::answered};
  });
}

Task man_command(const Words& words) {
  CommandParser parser("The manual page: every command and flag.", "shardplan man");
  parser.offer_formats({"text"});
  parser.add_example("shardplan man -o shardplan.1",
                     "then man -l shardplan.1, or into a folder man1 of the manual path");
  parser.parse(words);
  return parser.task([](Format, const Style&) {
    return Answer{manual_page(describe_commands(), version_text()), Outcome::answered};
  });
}

}  // namespace shardplan
