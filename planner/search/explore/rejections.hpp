#pragma once
// Why candidates were dropped, counted by constraint.
#include <map>
#include <shardplan/plan.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

class Rejections {
 public:
  void add(const Infeasible& reason);
  void add(const Rejections& others);
  bool has(const std::string& constraint) const { return counts_.contains(constraint); }
  /// Most frequent first, ties alphabetical.
  std::vector<RejectionCount> sorted() const;

 private:
  std::map<std::string, RejectionCount> counts_;
};

}  // namespace shardplan
