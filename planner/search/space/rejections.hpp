#pragma once
// Why candidates were dropped, counted by constraint.
#include <map>
#include <optional>
#include <shardplan/plan.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

class Rejections {
 public:
  void add(const Infeasible& reason);
  void add(const Rejections& others);
  bool has(ConstraintId constraint) const;
  /// Of those that take longer than `limit`, the least; empty: there are none.
  std::optional<Seconds> least_step(std::optional<Seconds> limit) const;
  /// Most frequent first, ties alphabetical.
  std::vector<RejectionCount> sorted() const;
  /// Where nothing is left: what only lacked time first, then what only lacked memory, which kept every constraint; then
  /// what no mesh mends, of one path through the experts where they all have it; then as sorted, last that pipelines
  /// can't be.
  std::vector<RejectionCount> nearest_first(bool one_path) const;

 private:
  struct Dropped {
    RejectionCount count;
    std::int64_t excess;  ///< of the example, in bytes, microseconds or tokens the least that was met; else 0
  };
  void add(ConstraintId constraint, const Dropped& dropped);

  std::map<ConstraintId, Dropped> counts_;
};

}  // namespace shardplan
