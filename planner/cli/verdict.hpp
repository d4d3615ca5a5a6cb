#pragma once
// What `check` and `audit` have in common: CI services read their findings, and the exit status says whether they count.
#include <functional>
#include <planner/check/check_answer.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/print_answer.hpp>

namespace shardplan {

void offer_verdict_formats(CommandParser& parser);

/// Adds SARIF, which has to point at a file, and annotations, which stand beside the lines of one; each of findings as
/// `check` has them.
Printers with_ci_forms(Printers printers, std::function<CheckAnswer()> for_sarif,
                       std::function<CheckAnswer()> for_annotations);

template <class Verdict>
Outcome outcome_of(const Verdict& verdict) {
  return verdict.is_regression() ? Outcome::regression : Outcome::answered;
}

}  // namespace shardplan
