#pragma once
// What starts a run with MaxText, as values made once; planner/report/shell_command.hpp makes text of them.
#include <arguments/print_configuration.hpp>
#include <cstdint>
#include <optional>
#include <shardplan/configuration.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

/// python3 -m MODULE [FILE.yml] KEY=VALUE…, under these environment variables.
struct Command {
  std::vector<std::pair<std::string, std::string>> environment;
  std::string module;
  PrintedArguments arguments;
  std::string config_file = {};  ///< empty: MaxText's base.yml
};

/// One process on each host, all of them one run. MaxText finds its coordinator through xpk on TPUs; on GPUs it is told
/// (utils/max_utils.py, initialize_jax_for_gpu).
struct HostsLaunch {
  HostLauncher launcher = HostLauncher::none;
  std::string device_type;  ///< xpk's: "v5p-32"; empty for srun
  int groups = 1;           ///< TPU slices, or GPU nodes
  int devices = 1;          ///< GPUs of a node, or devices of a slice
};

/// What every run needs and no plan knows.
enum class ReadersWord : std::uint8_t { run_name, base_output_directory, data_set };
/// "run_name", "base_output_directory", "data_set"
std::string_view name_of(ReadersWord word);
/// Those that the command doesn't say.
std::vector<ReadersWord> left_to_add(const Command& train);

struct RunCommands {
  Command train;                         ///< on every host the same words
  std::optional<Command> train_compile;  ///< ahead of time, on any machine; only where MaxText knows the topology
  std::optional<HostsLaunch> hosts;      ///< only where there are several hosts
};

/// Empty where MaxText doesn't run on the machine.
std::optional<RunCommands> run_commands(const Configuration& configuration);

}  // namespace shardplan
