#pragma once
// Predictions against recorded programs, per device and step:
//   collectives  bytes × executions, grouped by class and mesh axes:  Σ |predicted − recorded| / Σ recorded
//   phases       likewise with the phase added to the group
//   memory       predicted peak / recorded peak − 1; arguments likewise
// Collectives of the same class are interchangeable (XLA picks a reduce-scatter or an all-reduce for the same
// reduction); those under 64 KiB are left out on both sides.
#include <optional>
#include <planner/validate/recorded_program.hpp>
#include <shardplan/configuration.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct GroupDifference {
  std::string group;  ///< "gather fsdp+expert"
  Bytes predicted, recorded;
};

struct RecordScore {
  std::string id;
  double collectives = 0, phases = 0, memory = 0, arguments = 0;
  std::optional<bool> refused_too;     ///< set where the compiler refused the program: whether shardplan does too
  std::vector<GroupDifference> worst;  ///< groups off by more than 0.2% of all recorded traffic, worst first
  std::optional<std::string> failure;  ///< why there is no prediction
};

/// Costs the record's own arguments and compares.
RecordScore score(const RecordedProgram& record);

/// What its arguments say. Throws InputError where they don't give the recorded mesh.
Configuration configuration_of(const RecordedProgram& record);

/// Costs `configuration` and compares it with the record.
RecordScore score(const RecordedProgram& record, const Configuration& configuration);

struct ScoreSummary {
  int programs = 0, scored = 0, within_5_percent = 0;  ///< of those that compiled
  double median_collectives = 0, mean_memory = 0, worst_memory = 0;
  int refused = 0, refused_too = 0;
};

struct Validation {
  std::vector<RecordScore> scores;
  ScoreSummary summary;
};

Validation validate(const std::vector<RecordedProgram>& records);

}  // namespace shardplan
