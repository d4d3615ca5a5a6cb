#pragma once
// Which of the candidates that fit to recommend, and which to show beside it.
#include <planner/search/explore/explore.hpp>
#include <planner/search/space/parallelism.hpp>
#include <planner/search/strategies.hpp>
#include <vector>

namespace shardplan {

/// The share by which a slower candidate may still have the best throughput's place under Objective::memory.
inline constexpr double memory_objective_margin = 1.0 / 0.9 - 1;

struct Selection {
  Candidate recommended;
  std::vector<Candidate> alternatives;  ///< next best, each with other rules, another path, or a mesh that differs in
                                        ///< more than how fsdp and fsdp_transpose share their product; best first
};

/// `fitting` must not be empty. Candidates within 0.1% of the best time, which no cost model can tell apart, are
/// ordered by simplicity: fewer mesh axes, the earlier rule set of the request, no flags, less time, less memory.
Selection select(const std::vector<Candidate>& fitting, const std::vector<Parallelism>& parallelisms,
                 Objective objective, int alternatives);

/// The one of those whose mesh uses the strategy that select() would choose for throughput; empty when there is none.
std::optional<Candidate> best_of(Strategy strategy, const std::vector<Candidate>& fitting,
                                 const std::vector<Parallelism>& parallelisms, Objective objective);

}  // namespace shardplan
