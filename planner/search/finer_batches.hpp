#pragma once
// Batches between those that a search tries, for what it would show: 5 between 4 and 6 sequences, 20 between 16 and 24.
#include <planner/search/explore/explore.hpp>

namespace shardplan {

/// Of the fastest contenders and, where `scope` asks for its best, of the fastest of each Strategy, each run under its own
/// policy: the largest batch that fits, in steps of an eighth, between the largest searched one that does and the next.
/// Where it is at least 5% faster it joins `explored` and, at the end of its batches, its parallelism. Nothing where the
/// request fixes the batch, or once the budget is spent.
void try_finer_batches(const SearchSpace& space, std::vector<Parallelism>& parallelisms, Explored& explored,
                       const Scope& scope, const Evaluator& evaluate, const SearchBudget& budget = {});

}  // namespace shardplan
