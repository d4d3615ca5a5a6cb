#pragma once
// Which machine, how much of it: compile_topology as MaxText spells it, or a hardware profile and a number of chips.
#include <optional>
#include <arguments/words/given_arguments.hpp>
#include <shardplan/machine/machine.hpp>
#include <shardplan/train_config.hpp>
#include <string>

namespace shardplan {

/// --hardware, --chips, --slices and --program of the command line.
struct MachineChoice {
  std::optional<std::string> hardware;  ///< a name, one with a size ("v5p-16"), or the path of a profile
  std::optional<int> chips;   ///< of all slices
  std::optional<int> slices;  ///< TPU slices, or GPU nodes
  /// Empty: train_compile where compile_topology, which only it reads, is given.
  std::optional<StepProgram> program = {};
};

/// The choice with its machine under its own name. A name that says how much of it ("v5p-16", which counts cores as
/// compile_topology does) is that many chips in each of `slices`. Throws InputError where `chips` says otherwise.
MachineChoice with_machine_named(MachineChoice choice, int slices);

/// Throws InputError when arguments and choice don't name a machine, or contradict each other.
Machine read_machine(const GivenArguments& arguments, const MachineChoice& choice);

/// The program that the choice names, or that the arguments imply.
StepProgram read_program(const GivenArguments& arguments, const MachineChoice& choice);

}  // namespace shardplan
