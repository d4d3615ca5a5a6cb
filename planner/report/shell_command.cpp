#include <fmt/format.h>
#include <fmt/ranges.h>

#include <arguments/print_configuration.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/style.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

/// A text for the inside of double quotes, where nothing of it is the shell's.
std::string inside_double_quotes(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (std::string_view("\\\"$`").find(letter) != std::string_view::npos) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string as_it_stands(const std::string& text) { return text; }

using Escape = std::string (*)(const std::string&);

/// KEY=VALUE; in double quotes where the shell is to fill in the value. Around a command in quotes it is the outer shell: a
/// container has none of the reader's variables.
std::string argument_word(const std::string& key, const std::string& value, Escape escape) {
  if (!readers_variable(value)) return escape(shell_word(key + "=" + value));
  return key + "=" + escape("\"") + value + escape("\"");
}

ShellWords words_of(const Command& command, Escape escape = as_it_stands) {
  ShellWords words;
  for (const auto& [name, value] : command.environment) words.push_back(escape(name + "=" + shell_word(value)));
  for (const std::string& word : {std::string("python3"), std::string("-m"), command.module}) words.push_back(word);
  if (!command.config_file.empty()) words.push_back(escape(shell_word(command.config_file)));
  for (const auto& [key, value] : command.arguments) words.push_back(argument_word(key, value, escape));
  return words;
}

std::string on_one_line(const ShellWords& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// The reader's variable for what a command may lack; "": no word of it can be written down.
std::string variable_for(ReadersWord word) {
  switch (word) {
    case ReadersWord::run_name:
      return "RUN_NAME";
    case ReadersWord::base_output_directory:
      return "BASE_OUTPUT_DIRECTORY";
    case ReadersWord::data_set:
      return "";
  }
  throw InternalError("what a run needs without a variable");
}

/// Behind the train command: what it doesn't say yet, from variables of the reader's.
ShellWords added_words(const Command& train) {
  ShellWords words;
  for (const ReadersWord word : left_to_add(train))
    if (const std::string variable = variable_for(word); !variable.empty())
      words.push_back(fmt::format("{}={}", name_of(word), readers_value(variable)));
  return words;
}

/// `inner`: the train command as it stands inside double quotes, where a backslash breaks a line as outside. Behind it
/// what no plan knows, by the names that MaxText's documentation gives it, as in the line of srun.
ShellWords xpk_words(const HostsLaunch& hosts, const Command& train, const std::string& inner) {
  const std::string* said = find_argument(train.arguments, name_of(ReadersWord::run_name));
  const std::string name = said && !said->empty() ? shell_word(*said) : readers_value("RUN_NAME");
  ShellWords words = {"xpk", "workload", "create", "--cluster", "${GKE_CLUSTER?}", "--workload", name,
                      "--base-docker-image", "maxtext_base_image", "--tpu-type=" + hosts.device_type,
                      fmt::format("--num-slices={}", hosts.groups), "--command", "\"" + inner};
  for (std::string& word : added_words(train)) words.push_back(std::move(word));
  words.back() += "\"";
  return words;
}

/// In a job of as many nodes (sbatch, salloc); the first is the coordinator.
constexpr auto coordinator = "export JAX_COORDINATOR_IP=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)";

ShellWords variables(const HostsLaunch& hosts, const Command& train) {
  ShellWords words = {"export", "JAX_COORDINATOR_PORT=1234", fmt::format("NNODES={}", hosts.groups)};
  for (const ReadersWord word : left_to_add(train))
    if (std::string variable = variable_for(word); !variable.empty()) words.push_back(std::move(variable));
  return words;
}

/// `inner`: the train command as it stands inside single quotes; the shell of each node reads the variables behind it.
ShellWords srun_words(const HostsLaunch& hosts, const Command& train, const std::string& inner) {
  ShellWords command = added_words(train);
  command.insert(command.begin(), inner);
  return {"srun", fmt::format("--nodes={}", hosts.groups), "--ntasks-per-node=1",
          fmt::format("--gpus-per-node={}", hosts.devices), "bash", "-c",
          fmt::format("'NODE_RANK=$SLURM_NODEID {}'", on_one_line(command))};
}

std::string inside_single_quotes(const std::string& text) {
  const std::string word = quoted(text);
  return word.substr(1, word.size() - 2);
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char letter : text) all += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return all + "'";
}

std::string shell_word(const std::string& word) {
  return !word.empty() && word.find_first_not_of(harmless) == std::string::npos ? word : quoted(word);
}

std::string in_lines(const ShellWords& words, std::size_t indent, std::size_t width) {
  const std::string margin(indent, ' ');
  std::string lines, line = margin + words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (display_width(line) + 1 + display_width(words[i]) + 2 > width) {
      lines += line + " \\\n";
      line = margin + " ";
    }
    line += " " + words[i];
  }
  return lines + line + "\n";
}

std::string command_line(const Command& command) { return on_one_line(words_of(command)); }

std::string command_lines(const Command& command, std::size_t indent, std::size_t width) {
  return in_lines(words_of(command), indent, width);
}

std::string hosts_script(const HostsLaunch& hosts, const Command& train) {
  switch (hosts.launcher) {
    case HostLauncher::xpk:
      return on_one_line(xpk_words(hosts, train, on_one_line(words_of(train, inside_double_quotes))));
    case HostLauncher::srun:
      return fmt::format("{}\n{}\n{}", coordinator, on_one_line(variables(hosts, train)),
                         on_one_line(srun_words(hosts, train, inside_single_quotes(command_line(train)))));
    case HostLauncher::none:
      break;
  }
  throw InternalError("a run on several hosts without a launcher");
}

std::string hosts_lines(const HostsLaunch& hosts, const Command& train, std::size_t indent, std::size_t width) {
  constexpr auto inner = "…";
  switch (hosts.launcher) {
    case HostLauncher::xpk:
      return in_lines(xpk_words(hosts, train, inner), indent, width);
    case HostLauncher::srun:
      return in_lines({coordinator}, indent, width) + in_lines(variables(hosts, train), indent, width) +
             in_lines(srun_words(hosts, train, inner), indent, width);
    case HostLauncher::none:
      break;
  }
  throw InternalError("a run on several hosts without a launcher");
}

std::string settings_lines(const PrintedArguments& arguments, std::size_t indent, std::size_t width) {
  ShellWords words = {"shardplan", "explain"};
  for (const auto& [key, value] : arguments) words.push_back(shell_word(key + "=" + value));
  return in_lines(words, indent, width);
}

}  // namespace shardplan
