#pragma once
// The flags of `sweep` as the grid that is to be planned.
#include <planner/cli/plan_request.hpp>
#include <planner/sweep/grid.hpp>

namespace shardplan {

/// As written; empty where a flag is not given. `plan` has what holds for all cells, its model, chips and machines each a
/// list.
struct SweepFlags {
  PlanFlags plan;
  std::optional<std::string> tokens, within, shard;
};

struct SweepRequest {
  std::vector<PlanRequest> requests;  ///< one a model
  std::vector<ChipSpan> chips;
  SweepGoal goal;
  Shard shard;
  std::map<std::string, std::string> machine_files;  ///< SweepAnswer's
  SweepRequestWords words;  ///< what makes it this sweep: flags as given, with fingerprints of the files that they name
};

/// Throws InputError on anything missing, unknown, malformed or contradictory.
SweepRequest read_sweep_request(const SweepFlags& flags);

}  // namespace shardplan
