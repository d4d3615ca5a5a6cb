#pragma once
// What is known of two schedules of a pipeline on one mesh before either is costed
// (tests/unit/planner/search_pipelines_test.cpp checks it on the cost model):
//   memory   of equal microbatches, more need more: each iteration's inputs are saved. Weights that are gathered once
//            stay, so they need more than those that come and go
//   time     of equal microbatches, more share one bubble: a token takes no longer, unless circular storage is new
#include <planner/search/space/parallelism.hpp>

namespace shardplan {

/// Whether `a`, under any policy and its smallest batch, is known to need no more memory than `b` does.
bool needs_no_more_memory(const Parallelism& a, const Parallelism& b);

/// Whether a token, under any policy and the largest batch, is known to take no longer under `a` than under `b`.
bool takes_no_longer(const Parallelism& a, const Parallelism& b);

}  // namespace shardplan
