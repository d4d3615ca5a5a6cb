#pragma once
// `validate`: one line for each recorded program, below it the groups of collectives that are furthest off, and a
// summary.
#include <planner/report/style.hpp>
#include <planner/validate/score.hpp>
#include <string>

namespace shardplan {

std::string validation_text(const Validation& validation, const Style& style);
std::string validation_json(const Validation& validation);

}  // namespace shardplan
