#pragma once
// What `compare` says first: in what configurations, and the lines of rules, differ.
#include <planner/compare/compare_answer.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Of the first row its own figures, of the others what they lose or gain on it.
std::string difference_of(const ComparedRow& row, const CompareAnswer& answer);

/// "all-to-all -53.7 GB, gathered +12.0 GB; peak +17.6 GiB"; "" where neither moves. Bytes are those of
/// the base's tokens, as times are; the peak is a step's own.
std::string moved_difference(const Evaluation& base, const Evaluation& other);

/// Of two rule sets the best of the one against the best of the other: "best of default against best of mine.yml:
/// mine.yml is 16.2% slower …"; "" of anything else.
std::string rules_verdict(const CompareAnswer& answer);

/// "alone on expert=8: 1.29 s a step, 1.50 s with it (16.2% slower); all-to-all …", or why it doesn't run.
std::string change_alone(const RuleChange& change, const CompareAnswer& answer);
/// The changes that matter alone, most time first, and those that don't.
struct ChangesByEffect {
  std::vector<const RuleChange*> effective, idle;
};
ChangesByEffect changes_by_effect(const CompareAnswer& answer);
/// "change nothing alone on expert=8: circular_repeats, vocab"
std::string idle_changes(const std::vector<const RuleChange*>& idle, const CompareAnswer& answer);

/// "activation_batch_moe", "order of the rules"
std::string change_subject(const RuleChange& change);
/// What one set says: "line 43 ['exp', ['expert']]" each; one "no rule" where it has none.
std::vector<std::string> said_by(const RuleChange& change, const std::vector<RuleLine>& lines);

}  // namespace shardplan
