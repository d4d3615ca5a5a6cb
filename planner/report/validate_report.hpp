#pragma once
// `validate`: one line for each recorded program, below it the groups of collectives that are furthest off, and a
// summary.
#include <planner/report/style.hpp>
#include <planner/validate/ablate.hpp>
#include <planner/validate/memory_ranges.hpp>
#include <planner/validate/score.hpp>
#include <planner/validate/score_times.hpp>
#include <string>

namespace shardplan {

std::string validation_text(const Validation& validation, const Style& style);
std::string validation_json(const Validation& validation);

/// `validate --ablate`: a line for each habit, and below it the records that it changes most.
std::string ablation_text(const std::vector<AblatedHabit>& habits, const Style& style);
std::string ablation_json(const std::vector<AblatedHabit>& habits);

/// `validate --ranges`: how far memory has been off, by compiler and path.
std::string memory_ranges_text(const std::vector<MemoryRange>& ranges, const Style& style);
std::string memory_ranges_json(const std::vector<MemoryRange>& ranges);

/// `validate --times`: published runs, the furthest off first; below them errors by machine and kind.
std::string times_text(const TimeScore& score, const Style& style);
std::string times_json(const TimeScore& score);

}  // namespace shardplan
