#include <planner/search/space/pipeline_bounds.hpp>

namespace shardplan {
namespace {

bool share_all_but_schedule(const Parallelism& a, const Parallelism& b) {
  return a.rules == b.rules && a.moe_path == b.moe_path && a.dispatch_peeled == b.dispatch_peeled &&
         a.optimizer_over_data == b.optimizer_over_data && a.schedule.repeats == b.schedule.repeats && a.mesh == b.mesh;
}

/// Whether a microbatch of `a` has as many sequences as one of `b`.
bool equal(const Parallelism& a, const BatchOption& of_a, const Parallelism& b, const BatchOption& of_b) {
  return of_a.gradient_accumulation_steps == of_b.gradient_accumulation_steps &&
         of_a.per_device_batch_size * static_cast<double>(b.schedule.microbatches) ==
             of_b.per_device_batch_size * static_cast<double>(a.schedule.microbatches);
}

/// SHARDING.md section 2.6: microbatches wait in it when there are more of them than stages to hold them.
bool has_circular_storage(const Parallelism& p) {
  return p.schedule.repeats > 1 && p.schedule.microbatches > pipeline_stages(p.mesh);
}

}  // namespace

bool needs_no_more_memory(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule(a, b) && a.schedule.microbatches <= b.schedule.microbatches &&
         a.schedule.gathered_once <= b.schedule.gathered_once && equal(a, a.batches.front(), b, b.batches.front());
}

bool takes_no_longer(const Parallelism& a, const Parallelism& b) {
  return share_all_but_schedule(a, b) && a.schedule.microbatches >= b.schedule.microbatches &&
         a.schedule.gathered_once == b.schedule.gathered_once && has_circular_storage(a) == has_circular_storage(b) &&
         equal(a, a.batches.back(), b, b.batches.back());
}

}  // namespace shardplan
