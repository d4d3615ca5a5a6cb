#include <algorithm>
#include <cmath>
#include <limits>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <shardplan/program.hpp>
#include <tuple>

namespace shardplan {
namespace {

bool share_all_but_schedule_and_blocks(const Parallelism& a, const Parallelism& b) {
  return a.place == b.place && a.moe_path == b.moe_path && a.dispatch_peeled == b.dispatch_peeled &&
         a.optimizer_over_data == b.optimizer_over_data;
}

bool share_all_but_schedule(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule_and_blocks(a, b) && a.attention_blocks == b.attention_blocks;
}

bool share_all_but_microbatches(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule(a, b) && a.schedule.repeats == b.schedule.repeats;
}

bool accumulate_alike(const Parallelism& a, const Parallelism& b) {
  return a.batches.back().gradient_accumulation_steps == b.batches.back().gradient_accumulation_steps;
}

bool has_circular_storage(const Parallelism& p) {
  const PipelineSchedule& s = p.schedule;
  return PipelineShape{pipeline_stages(p.mesh), s.microbatches, s.repeats, s.layers_per_stage, s.forwarding_delay}
      .circular_storage();
}

/// The bubble is a run of each of the other stages: of a step's, a share that falls with the runs.
double runs_of_a_stage(const Parallelism& p) {
  return static_cast<double>(p.schedule.microbatches * p.schedule.repeats);
}

std::optional<FastestSchedule> with_microbatches(const std::vector<const Parallelism*>& schedules, std::size_t index,
                                                 std::int64_t microbatch) {
  const Parallelism& one = *schedules[index];
  const auto batch = per_device_batch(microbatch * one.schedule.microbatches, one.mesh.devices());
  if (!batch) return std::nullopt;
  return FastestSchedule{index, {*batch, one.batches.back().gradient_accumulation_steps}};
}

}  // namespace

bool needs_no_more_memory(const Parallelism& a, const Parallelism& b) {
  if (fuses_attention_of(b, a)) return true;
  const PipelineSchedule &one = a.schedule, &other = b.schedule;
  if (!share_busy_bound(a, b) || one.microbatches > other.microbatches) return false;
  if (one.repeats > other.repeats) return !one.gathered_once && !has_circular_storage(a);
  if (one.repeats < other.repeats) return false;
  return one.gathered_once == other.gathered_once || (other.gathered_once && one.repeats > 1);
}

bool begins_no_larger(const Parallelism& a, const Parallelism& b) {
  const BatchOption &of_a = a.batches.front(), &of_b = b.batches.front();
  return needs_no_more_memory(a, b) && of_a.gradient_accumulation_steps == of_b.gradient_accumulation_steps &&
         microbatch_of(a, of_a) <= microbatch_of(b, of_b);
}

bool share_time_bound(const Parallelism& a, const Parallelism& b) {
  return share_all_but_microbatches(a, b) && a.schedule.gathered_once == b.schedule.gathered_once &&
         has_circular_storage(a) == has_circular_storage(b) && accumulate_alike(a, b);
}

bool share_busy_bound(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule(a, b) && accumulate_alike(a, b);
}

bool fuses_attention_of(const Parallelism& a, const Parallelism& b) {
  if (!a.attention_blocks || !b.attention_blocks) return false;
  const bool fuses = a.attention_blocks->fused && !b.attention_blocks->fused;
  return fuses && share_all_but_schedule_and_blocks(a, b) && a.schedule == b.schedule && a.batches == b.batches;
}

std::int64_t microbatch_of(const Parallelism& p, const BatchOption& batch) {
  const double sequences = batch.per_device_batch_size * static_cast<double>(p.mesh.devices());  // of one pass
  return std::llround(sequences) / p.schedule.microbatches;
}

std::int64_t smallest_microbatch(const std::vector<const Parallelism*>& schedules) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const Parallelism* p : schedules) smallest = std::min(smallest, microbatch_of(*p, p->batches.front()));
  return smallest;
}

std::int64_t largest_microbatch(const std::vector<const Parallelism*>& schedules) {
  std::int64_t largest = 0;
  for (const Parallelism* p : schedules) largest = std::max(largest, microbatch_of(*p, p->batches.back()));
  return largest;
}

std::optional<FastestSchedule> fastest_schedule(const std::vector<const Parallelism*>& schedules, std::int64_t microbatch) {
  const auto most = std::max_element(schedules.begin(), schedules.end(), [](const auto* a, const auto* b) {
    return a->schedule.microbatches < b->schedule.microbatches;
  });
  return with_microbatches(schedules, static_cast<std::size_t>(most - schedules.begin()), microbatch);
}

std::optional<FastestSchedule> busiest_schedule(const std::vector<const Parallelism*>& schedules, std::int64_t microbatch) {
  const auto key = [](const PipelineSchedule& s) { return std::tuple(s.repeats, !s.gathered_once, -s.microbatches); };
  const auto busiest = std::min_element(schedules.begin(), schedules.end(), [&](const auto* a, const auto* b) {
    return key(a->schedule) < key(b->schedule);
  });
  return with_microbatches(schedules, static_cast<std::size_t>(busiest - schedules.begin()), microbatch);
}

double bubble_ratio(const Parallelism& a, const Parallelism& b) { return runs_of_a_stage(b) / runs_of_a_stage(a); }

}  // namespace shardplan
