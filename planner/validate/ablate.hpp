#pragma once
// What each habit of a compiler is worth: predictions with it against predictions without it, over recorded programs.
#include <planner/validate/score.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// How far a prediction is off: shares of what was recorded.
struct RecordErrors {
  double collectives = 0, phases = 0, memory = 0;  ///< memory without its sign
};

struct AblatedRecord {
  std::string id;
  RecordErrors with, without;
  std::optional<std::string> failure;  ///< why there is no prediction without the habit
};

struct AblatedHabit {
  Habit habit = {};
  int programs = 0;  ///< whose compiler has it
  std::vector<AblatedRecord> worse, better;  ///< without it, by more than a rounding; the largest effect first
};

/// Switches off each habit in turn. A program that is refused a prediction either way is left out.
std::vector<AblatedHabit> ablate(const std::vector<RecordedProgram>& records);

/// How much an error grows without the habit, of the kind that changes most; below 0: it shrinks.
double effect(const AblatedRecord& record);

}  // namespace shardplan
