#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/commands/run_commands.hpp>
#include <arguments/keys/base_default.hpp>
#include <shardplan/error.hpp>
#include <shardplan/machine/machine.hpp>

namespace shardplan {
namespace {

// MaxText docs/run_maxtext; base.yml is read where no YAML file is named (configs/pyconfig.py).
constexpr auto train_module = "maxtext.trainers.pre_train.train";
constexpr auto train_compile_module = "maxtext.trainers.pre_train.train_compile";

std::string xla_flags_of(const Configuration& c) {
  return fmt::format("{}", fmt::join(print_flags(flags_of(c)), " "));
}

/// JAX gives a process three quarters of a GPU's memory unless told otherwise; the plan has what the profile or
/// --memory-fraction says. The run reads XLA's flags from the environment: MaxText's compile_xla_flags is
/// train_compile's.
std::vector<std::pair<std::string, std::string>> environment_of(const Configuration& c) {
  std::vector<std::pair<std::string, std::string>> environment;
  if (c.hardware.process_memory_fraction)
    environment.emplace_back("XLA_PYTHON_CLIENT_MEM_FRACTION",
                             fmt::format("{}", process_fraction(c.hardware, c.memory_limits)));
  const bool libtpu = c.hardware.launch.hardware == MaxtextHardware::tpu;
  if (!xla_flags_of(c).empty())
    environment.emplace_back(libtpu ? "LIBTPU_INIT_ARGS" : "XLA_FLAGS", xla_flags_of(c));
  return environment;
}

std::optional<Command> compile_command(const Configuration& c) {
  if (!c.hardware.launch.compile_topology) return std::nullopt;
  Command command{{}, train_compile_module, run_arguments(c)};
  for (auto& argument : topology_arguments(c)) command.arguments.push_back(std::move(argument));
  if (!xla_flags_of(c).empty()) command.arguments.emplace_back("compile_xla_flags", xla_flags_of(c));
  return command;
}

/// "v5e-256" → "v5litepod-256"
std::string device_type_of(const Configuration& c) {
  const std::string& prefix = c.hardware.slice_prefix;
  return c.hardware.launch.device_type + c.slice.name.substr(prefix.size());
}

std::optional<HostsLaunch> hosts_launch(const Configuration& c) {
  const HostLauncher launcher = c.hardware.launch.hosts;
  const int hosts = hosts_of(c.hardware, c.slice);
  if (launcher == HostLauncher::none || c.num_slices * hosts == 1) return std::nullopt;
  if (launcher == HostLauncher::xpk) return HostsLaunch{launcher, device_type_of(c), c.num_slices, c.slice.devices};
  return HostsLaunch{launcher, "", c.num_slices * hosts, c.slice.devices / hosts};
}

bool says(const PrintedArguments& arguments, std::string_view key) {
  const std::string* said = find_argument(arguments, key);
  return said && !said->empty();
}

/// Each kind of data set has a key of its own (configs/types.py, DatasetType); `dataset_type=synthetic` needs none.
bool says_data_set(const PrintedArguments& arguments) {
  const std::string* said = find_argument(arguments, "dataset_type");
  const std::string type = said ? *said : base_default("dataset_type");
  if (type == "hf") return says(arguments, "hf_path");
  if (type == "grain") return says(arguments, "grain_train_files") || says(arguments, "grain_train_mixture_config_path");
  if (type == "olmo_grain") return says(arguments, "olmo_index_path");
  return type == "synthetic" || says(arguments, "dataset_path");
}

}  // namespace

std::vector<ReadersWord> left_to_add(const Command& train) {
  std::vector<ReadersWord> words;
  for (const ReadersWord word : {ReadersWord::run_name, ReadersWord::base_output_directory})
    if (!says(train.arguments, name_of(word))) words.push_back(word);
  if (!says_data_set(train.arguments)) words.push_back(ReadersWord::data_set);
  return words;
}

std::string_view name_of(ReadersWord word) {
  switch (word) {
    case ReadersWord::run_name:
      return "run_name";
    case ReadersWord::base_output_directory:
      return "base_output_directory";
    case ReadersWord::data_set:
      return "data_set";
  }
  throw InternalError("what a run needs without a name");
}

std::optional<RunCommands> run_commands(const Configuration& configuration) {
  if (configuration.hardware.launch.hardware == MaxtextHardware::none) return std::nullopt;
  return RunCommands{{environment_of(configuration), train_module, run_arguments(configuration)},
                     compile_command(configuration),
                     hosts_launch(configuration)};
}

}  // namespace shardplan
