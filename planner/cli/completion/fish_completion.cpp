#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/cli/completion/completed_values.hpp>
#include <planner/cli/completion/completion_scripts.hpp>
#include <planner/cli/completion/key_values.hpp>
#include <planner/report/shell_command.hpp>

namespace shardplan {
namespace {

std::string values_text(const CompletedValues& values) {
  std::string text = values.files ? " -F" : " -f";
  if (values.words.empty()) return text;
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  if (values.keys) return text + " -a " + quoted(fmt::format("(__shardplan_keys {})", words));
  return text + " -a " +
         quoted(values.list ? fmt::format("(__shardplan_list{} {})", values.files ? "_or_files" : "", words) : words);
}

std::string names_text(const FlagDescription& flag) {
  std::string text;
  for (const auto& name : flag.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return text;
}

std::string flag_line(const CommandDescription& command, const FlagDescription& flag) {
  const CompletedValues values = values_of(command, flag);
  const std::string where = fmt::format("complete -c shardplan -n {}", quoted("__shardplan_is " + command.name()));
  if (flag.positional) return values.empty() ? "" : where + values_text(values) + "\n";
  const std::string takes = flag.type.empty() ? "" : " -r" + values_text(values);
  return where + names_text(flag) + takes + " -d " + quoted(flag.help) + "\n";
}

std::string word_line(const std::string& condition, const Offered& offered) {
  return fmt::format("complete -c shardplan -n {} -f -a {} -d {}\n", quoted(condition), quoted(offered.word),
                     quoted(offered.summary));
}

}  // namespace

std::string fish_completion(const std::vector<CommandDescription>& commands) {
  std::string groups, text;
  for (const auto& first : first_words(commands)) groups += " " + first.word;
  text = fmt::format(R"script(# fish completion of shardplan: in ~/.config/fish/completions/shardplan.fish
function __shardplan_words
  set -l words (commandline -opc)
  set -e words[1]
  test (count $words) -gt 0; and printf '%s\n' $words
end
function __shardplan_typed
  set -l typed (string join ' ' -- (__shardplan_words))
  test "$typed" = "$argv"
end
function __shardplan_is
  set -l words (__shardplan_words)
  set -l command plan
  if contains -- "$words[1]"{}
    set command $words[1]
    if __shardplan_has_subcommand $words[1] "$words[2]"
      set command $words[1] $words[2]
    end
  end
  test "$command" = "$argv"
end
function __shardplan_has_subcommand
  switch "$argv"
)script",
                     groups);
  for (const auto& command : commands)
    if (!command.subcommand.empty()) text += fmt::format("    case {}\n      return 0\n", quoted(command.name()));
  text += R"script(  end
  return 1
end
function __shardplan_list
  set -l before (string match -r '.*,' -- (commandline -ct))
  printf '%s\n' "$before"$argv
end
function __shardplan_list_or_files
  __shardplan_list $argv
  set -l typed (commandline -ct)
  set -l before (string match -r '.*,' -- $typed)
  set -l files (string replace -r '.*,' '' -- "$typed")*
  test -n "$before" -a (count $files) -gt 0; and printf '%s\n' "$before"$files
end
function __shardplan_keys
  set -l typed (commandline -ct)
  if not string match -q '*=*' -- "$typed"
    printf '%s\n' $argv
    return
  end
  set -l key (string replace -r '=.*' '' -- "$typed")
  set -l values
  switch "$key"
)script";
  for (const auto& [key, values] : values_by_key())
    text += fmt::format("    case {}\n      set values {}\n", key, fmt::join(values, " "));
  text += R"script(  end
  test (count $values) -gt 0; and printf '%s\n' "$key="$values
end
complete -c shardplan -f
)script";
  for (const auto& first : first_words(commands)) {
    text += word_line("__shardplan_typed", first);
    for (const auto& second : second_words(commands, first.word))
      text += word_line("__shardplan_typed " + first.word, second);
  }
  for (const auto& command : commands)
    for (const auto& flag : command.flags) text += flag_line(command, flag);
  return text;
}

}  // namespace shardplan
