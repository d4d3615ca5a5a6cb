#pragma once
// One configuration → MaxText's own arguments.
#include <arguments/words/readers_value.hpp>  // some printed values are the reader's to set
#include <shardplan/configuration.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

using PrintedArguments = std::vector<std::pair<std::string, std::string>>;

/// What is said of a key; null where nothing is.
const std::string* find_argument(const PrintedArguments& arguments, std::string_view key);

/// What differs from MaxText's defaults, with the topology where MaxText has a name for it, in printing order: reading it
/// gives the configuration back. Computed from the parts, not from what was read, so that a search can change mesh or
/// settings and print the result.
PrintedArguments maxtext_arguments(const Configuration& configuration);

/// What the training run itself is told: every setting that it depends on, default or not, so that it is the same run over
/// anybody's YAML file; nothing about compiling ahead of time, which would keep MaxText from finding its coordinator.
PrintedArguments run_arguments(const Configuration& configuration);

/// The same as a YAML file of MaxText's, and what has to stand on the command line beside it: what the model's own file
/// says otherwise, which would win over this one; rules that are merged over MaxText's, which in a file replace them. With
/// them the model's name (model_of_command_line in the file), so that nothing starts without.
struct RunFile {
  PrintedArguments file;
  PrintedArguments words;  ///< mostly none
};
RunFile run_file(const Configuration& configuration);

/// compile_topology and compile_topology_num_slices, for train_compile; none where MaxText has no name for the slices.
PrintedArguments topology_arguments(const Configuration& configuration);

}  // namespace shardplan
