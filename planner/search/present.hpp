#pragma once
// Candidates as the evaluations to show.
#include <planner/search/space/candidate.hpp>
#include <planner/search/space/parallelism.hpp>
#include <vector>

namespace shardplan {

class Presenter {
 public:
  /// The arguments must outlive it.
  Presenter(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Evaluator& evaluate)
      : space_(space), parallelisms_(parallelisms), evaluate_(evaluate) {}

  /// Costed again by itself. Throws InternalError when that disagrees with what the search saw.
  Evaluation show(const Candidate& candidate) const;
  std::vector<Evaluation> show(const std::vector<Candidate>& candidates) const;

 private:
  const SearchSpace& space_;
  const std::vector<Parallelism>& parallelisms_;
  const Evaluator& evaluate_;
};

}  // namespace shardplan
