#pragma once
// XLA's flags among a run's arguments, and those that are assumed where there are none.
#include <arguments/words/given_arguments.hpp>
#include <compilers/compiler_flags.hpp>  // no_flags
#include <optional>
#include <shardplan/compiler/compiler.hpp>
#include <string>

namespace shardplan {

/// compile_xla_flags as written; "none" and nothing at all are XLA's defaults. Empty where it isn't given, or is in a YAML
/// file with MaxText's own default, which says nothing of what a run is started with.
std::optional<std::string> given_flags(const GivenArguments& arguments);

/// `loaded` with the flags that are given, if any; else under those that most published recipes for such models set, which
/// of a run are assumed alone, and of a plan's a part of the command.
Compiler compiler_of_run(const GivenArguments& arguments, const Compiler& loaded, bool has_experts);
Compiler compiler_of_plan(const GivenArguments& arguments, const Compiler& loaded, bool has_experts);

}  // namespace shardplan
