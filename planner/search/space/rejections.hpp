#pragma once
// Why candidates were dropped, counted by constraint.
#include <map>
#include <shardplan/plan.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

class Rejections {
 public:
  void add(const Infeasible& reason);
  void add(const Rejections& others);
  /// Most frequent first, ties alphabetical.
  std::vector<RejectionCount> sorted() const;

 private:
  std::map<ConstraintId, RejectionCount> counts_;
};

}  // namespace shardplan
