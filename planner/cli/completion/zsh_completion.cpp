#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/cli/completion/completed_values.hpp>
#include <planner/cli/completion/completion_scripts.hpp>
#include <planner/cli/completion/key_values.hpp>
#include <planner/report/shell_command.hpp>

namespace shardplan {
namespace {

/// Brackets and colons end the parts of a specification of _arguments.
std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

/// "(a b)", "_files", or nothing; of a list what _sequence calls for each of its items.
std::string action_of(const CompletedValues& values) {
  if (values.words.empty()) return values.files ? "_files" : " ";
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  if (values.keys) return fmt::format("{{_shardplan_keys {}}}", words);
  if (values.list && values.files) return fmt::format("_sequence _shardplan_names_or_files - -- {}", words);
  if (values.list) return fmt::format("_sequence compadd - {}", words);
  return values.files ? fmt::format("{{compadd - {}; _files}}", words) : fmt::format("({})", words);
}

std::string specification(const CommandDescription& command, const FlagDescription& flag, const std::string& name) {
  const CompletedValues values = values_of(command, flag);
  if (flag.positional) return quoted(fmt::format("{}:{}:{}", flag.repeats ? "*" : "", escaped(name), action_of(values)));
  const std::string value = flag.type.empty() ? "" : fmt::format(":{}:{}", escaped(flag.type), action_of(values));
  return quoted(fmt::format("{}[{}]{}", name, escaped(flag.help), value));
}

std::string function_name(const std::string& word, const std::string& subcommand) {
  return "_shardplan_" + word + (subcommand.empty() ? "" : "_" + subcommand);
}

std::string function_of(const CommandDescription& command) {
  std::string text = fmt::format("{}() {{\n  _arguments", function_name(command.word, command.subcommand));
  for (const auto& flag : command.flags)
    for (const auto& name : flag.names) text += fmt::format(" \\\n    {}", specification(command, flag, name));
  return text + "\n}\n";
}

std::string described(const std::vector<Offered>& offered) {
  std::string text;
  for (const auto& [word, summary] : offered) text += fmt::format(" {}", quoted(word + ":" + summary));
  return text;
}

bool has_command(const std::vector<CommandDescription>& commands, const std::string& word, const std::string& subcommand) {
  return std::any_of(commands.begin(), commands.end(), [&](const auto& command) {
    return command.word == word && command.subcommand == subcommand;
  });
}

/// A group's own flags where it is a command too, its second words, or the command that these say.
std::string group_case(const std::vector<CommandDescription>& commands, const std::string& group) {
  const auto inner = second_words(commands, group);
  std::string text = fmt::format("    {})\n", group);
  if (!inner.empty()) {
    text += fmt::format("      subcommands=({} )\n", described(inner));
    text +=
        "      if (( CURRENT == 3 )) && [[ $words[3] != -* ]]; then _describe subcommand subcommands; return; fi\n"
        "      case $words[3] in\n";
    for (const auto& second : inner)
      if (has_command(commands, group, second.word))
        text += fmt::format("        {}) words=($words[1] $words[4,-1]); (( CURRENT -= 2 )); {}; return ;;\n", second.word,
                          function_name(group, second.word));
    text += "      esac\n";
  }
  if (has_command(commands, group, ""))
    text += fmt::format("      words=($words[1] $words[3,-1]); (( CURRENT -= 1 )); {}\n", function_name(group, ""));
  return text + "      ;;\n";
}

}  // namespace

std::string zsh_completion(const std::vector<CommandDescription>& commands) {
  std::string text =
      "#compdef shardplan\n"
      "# zsh completion of shardplan: in a file _shardplan in $fpath, or source it after compinit\n";
  text += R"script(_shardplan_names_or_files() {
  local words=${argv[(i)--]}
  compadd "$@"
  _files "${(@)argv[1,words-1]}"
}
)script";
  text += "_shardplan_keys() {\n  if ! compset -P 1 '*='; then compadd -S '' -- $@; return; fi\n  case ${IPREFIX%=} in\n";
  for (const auto& [key, values] : values_by_key())
    text += fmt::format("    {}) compadd -- {} ;;\n", key, fmt::join(values, " "));
  text += "  esac\n}\n";
  for (const auto& command : commands) text += function_of(command);
  text += fmt::format(R"script(_shardplan() {{
  local -a commands subcommands
  commands=({} )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command commands; return; fi
  case $words[2] in
)script",
                      described(first_words(commands)));
  for (const auto& first : first_words(commands)) text += group_case(commands, first.word);
  return text + "    *) _shardplan_plan ;;\n  esac\n}\n(( $+functions[compdef] )) && compdef _shardplan shardplan\n";
}

}  // namespace shardplan
