#include <fmt/format.h>

#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <hardware/machine_of_chips.hpp>
#include <hardware/slices.hpp>
#include <limits>
#include <utility>
#include <arguments/machine_arguments.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::optional<int> slice_count(const GivenArguments& arguments, const std::string& key) {
  const auto count = arguments.integer(key);
  if (!count || *count == -1) return std::nullopt;  // base.yml's "not set"
  if (*count < 1 || *count > std::numeric_limits<int>::max())
    throw InputError(fmt::format("{}: expected at least 1", arguments.find(key)->place));
  return static_cast<int>(*count);
}

// Nodes are what slices of a torus are to MaxText: the dcn_* axes join them.
Machine split_into_nodes(Machine machine) {
  const int node = machine.hardware.chips_per_node;
  if (!ends_at_node(machine.hardware.fabric) || machine.slice.chips <= node) return machine;
  machine.num_slices *= machine.slice.chips / node;
  machine.slice = slice_of_chips(machine.hardware, node);
  return machine;
}

// Three ways to say how many slices; those that are used have to agree.
std::optional<int> read_slices(const GivenArguments& arguments, const MachineChoice& choice) {
  std::optional<int> slices = choice.slices;
  for (const char* key : {"compile_topology_num_slices", "num_slices"}) {
    const auto count = slice_count(arguments, key);
    if (count && slices && *count != *slices)
      throw InputError(fmt::format("{}: {} asked for elsewhere", arguments.find(key)->place, counted(*slices, "slice")));
    if (count) slices = count;
  }
  if (slices && *slices < 1) throw InputError(fmt::format("--slices {}: expected at least 1", *slices));
  return slices;
}

/// `asked` says how the chips were asked for: by number, or by the name of a slice, whose number `choice` has.
void check_named(const Machine& machine, const std::string& topology, const MachineChoice& choice,
                 const MachineChoice& asked) {
  if (const int chips = machine.num_slices * machine.slice.chips; choice.chips && *choice.chips != chips)
    throw InputError(fmt::format("compile_topology={} with {} has {}, but {} is asked for too", topology,
                                 counted(machine.num_slices, "slice"), counted(chips, "chip"),
                                 asked.chips ? fmt::format("--chips {}", *asked.chips)
                                             : fmt::format("--hardware {}", asked.hardware.value_or(""))));
}

/// Of the machine that is asked for: the names of a file's are those of the machine that it was begun as.
Machine machine_with_slice(const std::string& topology, const MachineChoice& choice, int slices) {
  if (!choice.hardware) {
    const NamedSlice named = slice_named(topology);
    return {load_profile(named.profile), named.slice, slices};
  }
  HardwareProfile asked = load_profile(*choice.hardware);
  if (auto slice = find_slice(asked, topology)) return {std::move(asked), *std::move(slice), slices};
  const std::string other = load_profile(slice_named(topology).profile).name;
  if (other == asked.name)
    throw InputError(fmt::format("compile_topology={}: {} has no slice of that name", topology, *choice.hardware));
  throw InputError(fmt::format("compile_topology={} is a {}, but the hardware asked for is {}", topology, other,
                               *choice.hardware));
}

Machine named_machine(const std::string& topology, const MachineChoice& choice, const MachineChoice& asked, int slices) {
  Machine machine = machine_with_slice(topology, choice, slices);
  check_named(machine, topology, choice, asked);
  return split_into_nodes(std::move(machine));
}

Machine chosen_machine(const MachineChoice& choice, std::optional<int> slices) {
  if (!choice.hardware)
    throw InputError("which machine? give compile_topology=v5p-16, or --hardware NAME and --chips N");
  if (!choice.chips) throw InputError(fmt::format("how many chips of {}? give --chips N", *choice.hardware));
  return machine_of(load_profile(*choice.hardware), *choice.chips, slices);
}

// MaxText needs hardware=gpu to be told; here it only has to be true.
void check_hardware_kind(const GivenArguments& arguments, const HardwareProfile& hardware) {
  const auto* given = arguments.find("hardware");
  if (!given || given->in_file) return;  // a copy of base.yml says tpu
  switch (hardware.launch.hardware) {
    case MaxtextHardware::tpu:
      if (given->text == "tpu") return;
      throw InputError(fmt::format("{}: {} needs hardware=tpu", given->place, hardware.name));
    case MaxtextHardware::gpu:
      if (given->text.starts_with("gpu")) return;
      throw InputError(fmt::format("{}: {} needs hardware=gpu", given->place, hardware.name));
    case MaxtextHardware::none:
      throw InputError(fmt::format("{}: MaxText does not run on {}", given->place, hardware.name));
  }
  throw InternalError("unknown MaxtextHardware");
}

}  // namespace

MachineChoice with_machine_named(MachineChoice choice, int slices) {
  if (!choice.hardware) return choice;
  const MachineName named = machine_called(*choice.hardware);
  const std::string asked = *std::exchange(choice.hardware, named.profile);
  if (!named.slice) return choice;
  const int chips = named.slice->chips * slices;
  if (choice.chips && *choice.chips != chips)
    throw InputError(fmt::format("--hardware {} is {} of {}{}, but --chips {} is asked for too; leave one of them out",
                                 asked, counted(named.slice->chips, "chip"), named.profile,
                                 slices > 1 ? fmt::format(" in each of {} slices", slices) : "", *choice.chips));
  choice.chips = chips;
  return choice;
}

Machine read_machine(const GivenArguments& arguments, const MachineChoice& asked) {
  const auto slices = read_slices(arguments, asked);
  const MachineChoice choice = with_machine_named(asked, slices.value_or(1));
  const std::string topology = arguments.text("compile_topology", "");
  Machine machine =
      topology.empty() ? chosen_machine(choice, slices) : named_machine(topology, choice, asked, slices.value_or(1));
  check_hardware_kind(arguments, machine.hardware);
  return machine;
}

StepProgram read_program(const GivenArguments& arguments, const MachineChoice& choice) {
  const bool names_topology = !arguments.text("compile_topology", "").empty();
  return choice.program.value_or(names_topology ? StepProgram::train_compile : StepProgram::train);
}

}  // namespace shardplan
