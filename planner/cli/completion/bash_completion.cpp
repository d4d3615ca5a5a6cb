#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/cli/completion/completed_values.hpp>
#include <planner/cli/completion/completion_scripts.hpp>
#include <planner/cli/completion/key_values.hpp>
#include <planner/report/shell_command.hpp>

namespace shardplan {
namespace {

std::string joined(const std::vector<Offered>& offered) {
  std::string text;
  for (const auto& one : offered) text += (text.empty() ? "" : " ") + one.word;
  return text;
}

/// Second words by the first.
std::string command_cases(const std::vector<CommandDescription>& commands) {
  std::string text;
  for (const auto& first : first_words(commands))
    text += fmt::format("    {}) subcommands={} ;;\n", first.word, quoted(joined(second_words(commands, first.word))));
  return text;
}

std::string flags_of(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const auto& flag : command.flags)
    if (!flag.positional) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

/// What `values` says, as variables of the function.
std::string assignment(const CompletedValues& values) {
  return fmt::format("values={} files={} list={} keys={}", quoted(fmt::format("{}", fmt::join(values.words, " "))),
                     values.files ? 1 : 0, values.list ? 1 : 0, values.keys ? 1 : 0);
}

std::string key_cases() {
  std::string text;
  for (const auto& [key, values] : values_by_key())
    text += fmt::format("    {}) values={} ;;\n", key, quoted(fmt::format("{}", fmt::join(values, " "))));
  return text;
}

std::string value_cases(const std::vector<CommandDescription>& commands) {
  std::string text;
  for (const auto& command : commands)
    for (const auto& flag : command.flags) {
      if (!flag.positional && flag.type.empty()) continue;
      const CompletedValues values = values_of(command, flag);
      if (flag.positional) {
        if (!values.empty()) text += fmt::format("    {}) {} ;;\n", quoted(command.name() + ":"), assignment(values));
        continue;
      }
      for (const auto& name : flag.names)
        text += fmt::format("    {}) {} takes=1 ;;\n", quoted(command.name() + ":" + name), assignment(values));
    }
  return text;
}

std::string flag_cases(const std::vector<CommandDescription>& commands) {
  std::string text;
  for (const auto& command : commands)
    text += fmt::format("    {}) flags={} ;;\n", quoted(command.name()), quoted(flags_of(command)));
  return text;
}

}  // namespace

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  return fmt::format(R"script(# bash completion of shardplan: source <(shardplan completion bash)
_shardplan() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="${{COMP_WORDS[1]}}" subcommands='' flags='' values='' files=0 list=0 keys=0 takes=0 prefix='' key=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] && [[ "$current" != -* ]]; then
    COMPREPLY=($(compgen -W {0} -- "$current"))
    return
  fi
  case "$command" in
{1}    *) command=plan ;;
  esac
  if [ -n "$subcommands" ] && [ "$COMP_CWORD" -eq 2 ] && [[ "$current" != -* ]]; then
    COMPREPLY=($(compgen -W "$subcommands" -- "$current"))
    return
  fi
  case " $subcommands " in
    *" ${{COMP_WORDS[2]}} "*) [ -n "${{COMP_WORDS[2]}}" ] && command="$command ${{COMP_WORDS[2]}}" ;;
  esac
  case "$command:$previous" in
{2}  esac
  if [ "$takes" -eq 0 ]; then
    case "$command" in
{3}    esac
    if [[ "$current" == -* ]]; then
      COMPREPLY=($(compgen -W "$flags" -- "$current"))
      return
    fi
    case "$command:" in
{2}    esac
  fi
  # Bash takes a word apart at "=" where COMP_WORDBREAKS has it: the key is then a word before.
  if [ "$current" = '=' ]; then
    key="$previous" current=''
  elif [ "$previous" = '=' ]; then
    key="${{COMP_WORDS[COMP_CWORD-2]}}"
  elif [[ "$current" == *=* && "$current" != -* ]]; then
    key="${{current%%=*}}" prefix="${{current%%=*}}=" current="${{current#*=}}"
  fi
  if [ "$keys" -eq 1 ] || [ -n "$key" ]; then
    compopt +o filenames 2>/dev/null
    [ -z "$key" ] && compopt -o nospace 2>/dev/null
  fi
  if [ -n "$key" ]; then
    values=''
    case "$key" in
{4}    esac
  fi
  if [ "$list" -eq 1 ] && [[ "$current" == *,* ]]; then
    prefix="${{current%,*}},"
    current="${{current##*,}}"
  fi
  COMPREPLY=($(compgen -P "$prefix" -W "$values" -- "$current"))
  [ "$files" -eq 1 ] && COMPREPLY+=($(compgen -P "$prefix" -f -- "$current"))
}}
complete -o filenames -F _shardplan shardplan
)script",
                     quoted(joined(first_words(commands))), command_cases(commands), value_cases(commands),
                     flag_cases(commands), key_cases());
}

}  // namespace shardplan
