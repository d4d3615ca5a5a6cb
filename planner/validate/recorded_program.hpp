#pragma once
// What the XLA compiler made of one MaxText train step: the arguments it was compiled with, the collectives of the
// optimized program and its buffer assignment. Form and provenance: planner/validate/records/README.md.
#include <map>
#include <optional>
#include <arguments/machine_arguments.hpp>
#include <shardplan/collective/collective.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct RecordedCollective {
  Phase phase = Phase::forward;
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<std::string> axes;  ///< mesh axes of size above 1
  std::int64_t group_size = 1;
  Bytes bytes;                  ///< per device and execution, as CollectiveKind says
  std::int64_t executions = 1;  ///< per step
};

struct RecordedMemory {
  Bytes arguments, peak;
};

struct RecordedProgram {
  std::string id;
  std::vector<std::string> arguments;  ///< KEY=VALUE, as MaxText takes them
  MachineChoice machine;               ///< empty but for the program where compile_topology names it
  std::optional<double> memory_fraction;  ///< of a GPU's memory, that the compiler planned with; empty: no GPU
  std::map<std::string, int> mesh;     ///< every axis
  std::vector<RecordedCollective> collectives;
  std::optional<RecordedMemory> memory;  ///< empty: the compiler refused the program as out of memory
};

/// Throws InputError that names file and place on anything malformed, unknown or contradictory.
RecordedProgram read_record(const std::string& path);
RecordedProgram parse_record(std::string_view text, const std::string& file);

/// The records that come with shardplan, by id.
std::vector<RecordedProgram> built_in_records();

}  // namespace shardplan
