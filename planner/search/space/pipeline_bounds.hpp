#pragma once
// What is known of two schedules of a pipeline on one mesh before either is costed
// (tests/unit/search/pipelines_test.cpp checks it on the cost model):
//   memory   of equal microbatches, more need more: each iteration's inputs are saved. Weights that are gathered once
//            stay, so they need more than those that come and go
//   time     of equal microbatches, more share one bubble: a token takes no longer, unless circular storage is new. Its
//            bubble aside, a schedule is fastest whose stages run once and whose weights are gathered once
#include <optional>
#include <planner/search/space/parallelism.hpp>
#include <vector>

namespace shardplan {

/// Whether `a`, under any policy and its smallest batch, is known to need no more memory than `b` does.
bool needs_no_more_memory(const Parallelism& a, const Parallelism& b);

/// Whether they differ in their microbatches alone, so that of equal ones more take no longer a token: neither has circular
/// storage, or both.
bool share_time_bound(const Parallelism& a, const Parallelism& b);

/// Whether they differ in their schedules alone.
bool share_busy_bound(const Parallelism& a, const Parallelism& b);

/// One of several schedules, and a batch of it in which its microbatches are as large as the largest that any has, which
/// may be none of its own. No candidate of theirs takes less a token than it would with the other's bubble (bubble_ratio).
struct FastestSchedule {
  std::size_t index;
  BatchOption batch;
};

/// Of schedules that share_time_bound the one with most microbatches. Empty where MaxText has no such batch.
std::optional<FastestSchedule> fastest_schedule(const std::vector<const Parallelism*>& schedules);

/// Of schedules that share_busy_bound the one that is fastest beside its bubble. Likewise.
std::optional<FastestSchedule> busiest_schedule(const std::vector<const Parallelism*>& schedules);

/// The bubble of `a` over that of `b`, of equal microbatches and per token. 1 without stages.
double bubble_ratio(const Parallelism& a, const Parallelism& b);

}  // namespace shardplan
