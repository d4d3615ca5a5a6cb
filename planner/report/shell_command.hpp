#pragma once
// Commands, those of a run (arguments/commands) among them, as text for a POSIX shell.
#include <arguments/commands/run_commands.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// In single quotes, whatever is in it.
std::string quoted(const std::string& text);

/// One word to a shell: quoted where it has to be.
std::string shell_word(const std::string& word);

using ShellWords = std::vector<std::string>;

/// Words as they stand, in lines of at most `width` columns where they are short enough, broken by backslashes.
std::string in_lines(const ShellWords& words, std::size_t indent, std::size_t width);

/// "python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b …" on one line.
std::string command_line(const Command& command);

/// The same in lines.
std::string command_lines(const Command& command, std::size_t indent, std::size_t width);

/// What starts the run on all of its hosts: a template, because cluster, image and storage are the reader's. MaxText's
/// words as in docs/run_maxtext/run_maxtext_via_xpk.md and utils/max_utils.py (initialize_jax_for_gpu).
std::string hosts_script(const HostsLaunch& hosts, const Command& train);

/// The same on a terminal, with "…" for the train command that stands above it.
std::string hosts_lines(const HostsLaunch& hosts, const Command& train, std::size_t indent, std::size_t width);

/// The words without MaxText's command, for `shardplan explain`.
std::string settings_lines(const PrintedArguments& arguments, std::size_t indent, std::size_t width);

}  // namespace shardplan
