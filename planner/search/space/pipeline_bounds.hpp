#pragma once
// What is known of two schedules of a pipeline on one mesh before either is costed
// (tests/unit/search/pipelines_test.cpp checks it on the cost model):
//   memory   of equal microbatches, more need more: each iteration's inputs are saved. A stage that runs more often, and has
//            fewer layers, needs no more where its microbatches need no circular storage. Weights that are gathered once
//            stay, so they need more than those that come and go, where stages run several times (where once, up to 6% less:
//            mixtures on 7x)
//   time     of equal microbatches, more share one bubble: a token takes no longer, unless circular storage is new. Its
//            bubble aside, a schedule is fastest whose stages run once and whose weights are gathered once
#include <optional>
#include <planner/search/space/parallelism.hpp>
#include <vector>

namespace shardplan {

/// Whether `a`, under any policy, is known to need no more memory than `b` does with microbatches of the same size.
bool needs_no_more_memory(const Parallelism& a, const Parallelism& b);

/// Whether `a` is known to need no more with its smallest batch than `b` with any.
bool begins_no_larger(const Parallelism& a, const Parallelism& b);

/// Whether they differ in their microbatches alone, so that of equal ones more take no longer a token: neither has circular
/// storage, or both.
bool share_time_bound(const Parallelism& a, const Parallelism& b);

/// Whether they differ in their schedules alone.
bool share_busy_bound(const Parallelism& a, const Parallelism& b);

/// Whether `a` is `b` but for one kernel that makes the gradients of attention in place of two: no candidate of it takes
/// longer, or needs less memory, than the same of `b`.
bool fuses_attention_of(const Parallelism& a, const Parallelism& b);

/// Sequences of a microbatch, all devices.
std::int64_t microbatch_of(const Parallelism& p, const BatchOption& batch);

/// Of all batches of several schedules.
std::int64_t smallest_microbatch(const std::vector<const Parallelism*>& schedules);
std::int64_t largest_microbatch(const std::vector<const Parallelism*>& schedules);

/// One of several schedules, and a batch of it in which its microbatches are as large as is asked for, which may be none of
/// its own. No candidate of theirs with microbatches of that size or less takes less a token than it would with the other's
/// bubble (bubble_ratio).
struct FastestSchedule {
  std::size_t index;
  BatchOption batch;
};

/// Of schedules that share_time_bound the one with most microbatches. Empty where MaxText has no such batch.
std::optional<FastestSchedule> fastest_schedule(const std::vector<const Parallelism*>& schedules, std::int64_t microbatch);

/// Of schedules that share_busy_bound the one that is fastest beside its bubble. Likewise.
std::optional<FastestSchedule> busiest_schedule(const std::vector<const Parallelism*>& schedules, std::int64_t microbatch);

/// The bubble of `a` over that of `b`, of equal microbatches and per token. 1 without stages.
double bubble_ratio(const Parallelism& a, const Parallelism& b);

}  // namespace shardplan
