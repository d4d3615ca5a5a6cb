#pragma once
// The flags that say one run, shared by explain, check and audit: machine, mesh, rules, model and MaxText's arguments.
#include <arguments/asked_run.hpp>
#include <optional>
#include <planner/cli/parse_words.hpp>
#include <string>

namespace shardplan {

/// As written; empty where a flag is not given.
struct RunFlags {
  std::optional<std::string> model, hardware, chips, slices, rules, mesh, config_file, program, reserve, memory_fraction,
      xla_flags;
  Words key_values;
};

/// Those of explain and audit, where --model, --rules and KEY=VALUE are one run's.
void add_run_flags(CommandParser& parser, RunFlags& flags, const std::string& mesh_help, const std::string& words_help);
/// --slices, which means the same everywhere, and the YAML file.
void add_slices_flag(CommandParser& parser, RunFlags& flags);
void add_config_flag(CommandParser& parser, RunFlags& flags);
/// --xla-flags, which `plan` has too.
void add_xla_flags(CommandParser& parser, std::optional<std::string>& xla_flags);

/// Whether one of these is compile_xla_flags=….
bool says_xla_flags(const Words& key_values);

/// KEY=VALUE with --xla-flags as MaxText's compile_xla_flags.
Words with_xla_flags(Words key_values, const std::optional<std::string>& xla_flags);

/// --reserve-hbm and --memory-fraction, of explain and audit.
void add_memory_flags(CommandParser& parser, std::optional<std::string>& reserve, std::optional<std::string>& fraction);
MemoryLimits read_memory_limits(const std::optional<std::string>& reserve, const std::optional<std::string>& fraction);

MachineChoice read_machine_choice(const RunFlags& flags);

/// --model is model_name, --rules custom_mesh_and_rule, --mesh the whole mesh. Throws InputError on anything unknown,
/// malformed or contradictory.
Configuration read_configuration(const RunFlags& flags);

}  // namespace shardplan
