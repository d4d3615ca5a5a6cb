#pragma once
// Rules back to the lines where they stand.
#include <planner/check/check_answer.hpp>
#include <vector>

namespace shardplan {

/// The rules of one set with their lines.
class RulePlaces {
 public:
  /// Throws InputError as load_rules does.
  explicit RulePlaces(const std::string& name_or_path);

  /// Line 0 for a rule that the set hasn't: a model's own, or one that pipelining edits.
  RulePlace place_of(const Rule& rule) const;
  /// Of the finding's rules: by their indices where it has them, since equal rules may stand at several lines.
  std::vector<RulePlace> places_of(const Finding& finding) const;
  bool is_file() const { return is_file_; }
  const RuleSet& rules() const { return set_; }

 private:
  RuleSet set_;
  std::vector<int> lines_;
  bool is_file_;
};

}  // namespace shardplan
