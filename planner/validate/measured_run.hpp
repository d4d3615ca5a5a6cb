#pragma once
// A training run that somebody measured and published: MaxText's arguments, the XLA flags of its recipe, the machine and
// how fast it ran. Form and provenance: planner/validate/measured/README.md.
#include <arguments/machine_arguments.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct MeasuredRun {
  std::string id;
  std::vector<std::string> arguments;  ///< KEY=VALUE, as MaxText takes them, compile_xla_flags with them
  MachineChoice machine;               ///< empty where compile_topology names it
  double tokens_per_second_per_device = 0;  ///< measured; 0: the step is
  double step_seconds = 0;
  std::string source;
};

/// Throws InputError that names file and place on anything malformed or unknown.
std::vector<MeasuredRun> read_measured_runs(const std::string& path);
std::vector<MeasuredRun> parse_measured_runs(std::string_view text, const std::string& file);

/// Those that come with shardplan, by machine.
std::vector<MeasuredRun> built_in_measured_runs();

}  // namespace shardplan
