#include <algorithm>
#include <cmath>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <tuple>

namespace shardplan {
namespace {

bool share_all_but_schedule(const Parallelism& a, const Parallelism& b) {
  return a.place == b.place && a.moe_path == b.moe_path && a.dispatch_peeled == b.dispatch_peeled &&
         a.optimizer_over_data == b.optimizer_over_data;
}

bool share_all_but_microbatches(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule(a, b) && a.schedule.repeats == b.schedule.repeats;
}

bool accumulate_alike(const Parallelism& a, const Parallelism& b) {
  return a.batches.back().gradient_accumulation_steps == b.batches.back().gradient_accumulation_steps;
}

/// Whether a microbatch of `a` has as many sequences as one of `b`.
bool equal(const Parallelism& a, const BatchOption& of_a, const Parallelism& b, const BatchOption& of_b) {
  return of_a.gradient_accumulation_steps == of_b.gradient_accumulation_steps &&
         of_a.per_device_batch_size * static_cast<double>(b.schedule.microbatches) ==
             of_b.per_device_batch_size * static_cast<double>(a.schedule.microbatches);
}

/// Of one pass, all devices.
std::int64_t sequences_of(const Parallelism& p, const BatchOption& batch) {
  return std::llround(batch.per_device_batch_size * static_cast<double>(p.mesh.devices()));
}

/// SHARDING.md section 2.6: microbatches wait in it when there are more of them than stages to hold them.
bool has_circular_storage(const Parallelism& p) {
  return p.schedule.repeats > 1 && p.schedule.microbatches > pipeline_stages(p.mesh);
}

/// The bubble is a run of each of the other stages: of a step's, a share that falls with the runs.
double runs_of_a_stage(const Parallelism& p) {
  return static_cast<double>(p.schedule.microbatches * p.schedule.repeats);
}

std::optional<FastestSchedule> with_largest_microbatches(const std::vector<const Parallelism*>& schedules,
                                                         std::size_t index) {
  const Parallelism& one = *schedules[index];
  std::int64_t largest = 0;
  for (const Parallelism* p : schedules)
    largest = std::max(largest, sequences_of(*p, p->batches.back()) / p->schedule.microbatches);
  const auto batch = per_device_batch(largest * one.schedule.microbatches, one.mesh.devices());
  if (!batch) return std::nullopt;
  return FastestSchedule{index, {*batch, one.batches.back().gradient_accumulation_steps}};
}

}  // namespace

bool needs_no_more_memory(const Parallelism& a, const Parallelism& b) {
  return share_all_but_microbatches(a, b) && a.schedule.microbatches <= b.schedule.microbatches &&
         a.schedule.gathered_once <= b.schedule.gathered_once && equal(a, a.batches.front(), b, b.batches.front());
}

bool share_time_bound(const Parallelism& a, const Parallelism& b) {
  return share_all_but_microbatches(a, b) && a.schedule.gathered_once == b.schedule.gathered_once &&
         has_circular_storage(a) == has_circular_storage(b) && accumulate_alike(a, b);
}

bool share_busy_bound(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule(a, b) && accumulate_alike(a, b);
}

std::optional<FastestSchedule> fastest_schedule(const std::vector<const Parallelism*>& schedules) {
  const auto most = std::max_element(schedules.begin(), schedules.end(), [](const auto* a, const auto* b) {
    return a->schedule.microbatches < b->schedule.microbatches;
  });
  return with_largest_microbatches(schedules, static_cast<std::size_t>(most - schedules.begin()));
}

std::optional<FastestSchedule> busiest_schedule(const std::vector<const Parallelism*>& schedules) {
  const auto key = [](const PipelineSchedule& s) { return std::tuple(s.repeats, !s.gathered_once, -s.microbatches); };
  const auto busiest = std::min_element(schedules.begin(), schedules.end(), [&](const auto* a, const auto* b) {
    return key(a->schedule) < key(b->schedule);
  });
  return with_largest_microbatches(schedules, static_cast<std::size_t>(busiest - schedules.begin()));
}

double bubble_ratio(const Parallelism& a, const Parallelism& b) { return runs_of_a_stage(b) / runs_of_a_stage(a); }

}  // namespace shardplan
