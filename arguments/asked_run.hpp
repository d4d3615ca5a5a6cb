#pragma once
// One run as words, flags and files ask for it: everything read, nothing settled. The model's own file, the machine and
// the rules have their say in `configured`.
#include <arguments/words/given_arguments.hpp>
#include <arguments/machine_arguments.hpp>
#include <arguments/mesh_arguments.hpp>
#include <shardplan/configuration.hpp>
#include <vector>

namespace shardplan {

struct AskedRun {
  GivenArguments arguments;
  Model model;    ///< as its file has it
  RuleSet rules;  ///< chosen, as they come
  Machine machine;
  Compiler compiler;  ///< the machine's
  StepProgram program = StepProgram::train;
  MeshArguments sizes;
  MemoryLimits memory_limits = {};
};

/// Reads the files that arguments and choice name. Throws InputError on anything unknown or malformed in them.
AskedRun read_run(const GivenArguments& arguments, const MachineChoice& choice);

/// The same run on this whole mesh: axes that it leaves out have size 1. Over several slices the first axis that they
/// divide spans them. Throws InputError on an axis that the rules don't have, or whose size an argument gives too, and
/// when no axis can span the slices.
AskedRun on_mesh(AskedRun run, const std::vector<AskedAxis>& mesh);

/// Values alone: no file is read and no text parsed. Throws InputError where arguments contradict the model, and on a
/// mesh that is not the machine.
Configuration configured(const AskedRun& run);

}  // namespace shardplan
