#pragma once
// Rules back to the lines where they stand.
#include <planner/check/check_answer.hpp>
#include <rules/rule_lines.hpp>
#include <vector>

namespace shardplan {

/// The list of rules that is checked, with its lines: that of a set, or the one that a run's YAML file has in its place.
class RulePlaces {
 public:
  /// `config`: a run's file with a list of rules, which is idle beside a custom set; "": there is none. Throws InputError as
  /// load_rules does.
  explicit RulePlaces(const std::string& name_or_path, const std::string& config = "");

  /// Line 0 for a rule that the list hasn't: a model's own, or one that pipelining edits.
  RulePlace place_of(const Rule& rule) const;
  /// Of the finding's rules: by their indices where it has them, since equal rules may stand at several lines.
  std::vector<RulePlace> places_of(const Finding& finding) const;
  /// The set's name or path, or that of the run's file.
  const std::string& name() const { return name_; }
  bool is_file() const { return listed_.is_file; }
  /// The list that is checked.
  const RuleSet& rules() const { return listed_.set; }
  /// The set that the run begins with.
  const RuleSet& chosen() const { return chosen_; }

 private:
  RuleSet chosen_;
  std::string name_;
  LinedRules listed_;
};

}  // namespace shardplan
