#include <algorithm>
#include <planner/search/explore/schedules.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <utility>

namespace shardplan {

const Exploration* smaller_that_is_too_large(Family family, const Exploration& exploration) {
  const auto smaller = std::find_if(family.begin(), family.end(), [&](const Exploration& other) {
    return !other.may_fit() && begins_no_larger(other.parallelism(), exploration.parallelism());
  });
  return smaller == family.end() ? nullptr : &*smaller;
}

void probe_memory(Family family, Exploration& exploration, Runner& runner) {
  if (const Exploration* smaller = smaller_that_is_too_large(family, exploration))
    exploration.rule_out(*smaller);
  else
    exploration.probe_memory(runner);
}

std::vector<Exploration*> leanest_first(Family family) {
  std::vector<Exploration*> order;
  for (Exploration& exploration : family) order.push_back(&exploration);
  std::stable_sort(order.begin(), order.end(), [](const Exploration* a, const Exploration* b) {
    const auto rank = [](const Parallelism& p) {
      return std::pair(-p.schedule.repeats, p.attention_blocks && p.attention_blocks->fused);
    };
    return rank(a->parallelism()) < rank(b->parallelism());
  });
  return order;
}

namespace {

/// Schedules that one bound on seconds holds for.
using Group = std::vector<Exploration*>;

template <class Shared>
std::vector<Group> groups_of(Family family, Shared shared) {
  std::vector<Group> groups;
  for (Exploration& exploration : family) {
    if (!exploration.may_fit()) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& some) {
      return shared(some.front()->parallelism(), exploration.parallelism());
    });
    if (group == groups.end())
      groups.push_back({&exploration});
    else
      group->push_back(&exploration);
  }
  return groups;
}

std::vector<const Parallelism*> schedules_of(const Group& group) {
  std::vector<const Parallelism*> schedules;
  for (const Exploration* exploration : group) schedules.push_back(&exploration->parallelism());
  return schedules;
}

/// What none of the group takes less than whose microbatches have as many sequences or less, by one run; `kind`: of which
/// kind the group is; `slack`: by how much that may be wrong. False: MaxText has no such run.
bool bound_with(std::int64_t microbatch, const Group& group, TimeBound kind, double slack, Runner& runner) {
  const auto schedules = schedules_of(group);
  const auto fastest = kind == TimeBound::sharding ? busiest_schedule(schedules, microbatch)
                                                   : fastest_schedule(schedules, microbatch);
  if (!fastest) return false;
  const StepBound step = group[fastest->index]->bound_step(runner, fastest->batch, slack);
  for (Exploration* exploration : group) {
    const double bubble = bubble_ratio(exploration->parallelism(), *schedules[fastest->index]);
    exploration->assume_no_faster(step.with_bubble(bubble), kind);
  }
  return true;
}

/// Whatever their batches.
void probe_time(const Group& group, TimeBound kind, Runner& runner) {
  if (group.size() > 1 && bound_with(largest_microbatch(schedules_of(group)), group, kind, time_slack, runner)) return;
  for (Exploration* exploration : group) exploration->probe_time(runner);
}

bool reach(const Group& group, const Bar& bar) {
  return std::any_of(group.begin(), group.end(), [&](const Exploration* some) { return some->reaches(bar); });
}

/// One of the group, else of its family, that needs no more memory than any of the group does, of equal microbatches. Null:
/// none is known.
Exploration* leanest(Family family, const Group& group) {
  const auto is_lean = [&](const Exploration& exploration) {
    return std::all_of(group.begin(), group.end(), [&](const Exploration* other) {
      return needs_no_more_memory(exploration.parallelism(), other->parallelism());
    });
  };
  const auto own = std::find_if(group.begin(), group.end(), [&](const Exploration* some) { return is_lean(*some); });
  if (own != group.end()) return *own;
  const auto other = std::find_if(family.begin(), family.end(), is_lean);
  return other == family.end() ? nullptr : &*other;
}

/// By the microbatches that may fit one of the family that needs no more memory: smaller ones take longer a token, but for
/// the smallest, which are looked at for themselves.
void bound_what_fits(Family family, const Group& group, TimeBound kind, Runner& runner) {
  Exploration* lean = leanest(family, group);
  if (!lean || !lean->memory_grows_with_batch()) return;
  if (!lean->is_probed()) probe_memory(family, *lean, runner);
  if (!lean->may_fit()) return;  // nor do those of the group that begin no smaller, which is said in their turn
  const std::size_t batches = lean->count_batches_that_may_fit(runner);
  const std::int64_t most = microbatch_of(lean->parallelism(), lean->parallelism().batches[batches - 1]);
  for (Exploration* exploration : group) exploration->leave_out_above(most);
  const std::int64_t least = smallest_microbatch(schedules_of(group));
  if (kind == TimeBound::sharding && bound_with(least, group, kind, time_slack, runner))
    for (Exploration* exploration : group)
      if (smallest_microbatch({&exploration->parallelism()}) == least) exploration->assume_smallest_no_faster();
  bound_with(most, group, kind, kind == TimeBound::schedules ? fitting_slack : time_slack, runner);
}

/// The same with fused gradients of attention, if it may fit. It stands before the exploration, as its group does.
const Exploration* with_fused_attention(Family family, const Exploration& exploration) {
  const auto found = std::find_if(family.begin(), family.end(), [&](const Exploration& other) {
    return other.may_fit() && fuses_attention_of(other.parallelism(), exploration.parallelism());
  });
  return found == family.end() ? nullptr : &*found;
}

/// By what bounds those with fused gradients. False: there are none for some of the group.
bool bound_by_fused_attention(Family family, const Group& group) {
  for (Exploration* exploration : group) {
    const Exploration* fused = with_fused_attention(family, *exploration);
    if (!fused) return false;
    exploration->follow(*fused);
    exploration->assume_no_faster(fused->least_seconds(), TimeBound::sharding);
  }
  return true;
}

}  // namespace

void bound_seconds(Family family, Runner& runner) {
  for (const Group& group : groups_of(family, share_busy_bound))
    if (!bound_by_fused_attention(family, group)) probe_time(group, TimeBound::sharding, runner);
}

void bound_schedules(Family family, const Bar& bar, Runner& runner) {
  for (const Group& group : groups_of(family, share_busy_bound))
    if (group.size() > 1 && reach(group, bar)) bound_what_fits(family, group, TimeBound::sharding, runner);
  for (const Group& group : groups_of(family, share_time_bound))
    if (group.size() > 1 && group.front()->time_bound() < TimeBound::schedules && reach(group, bar))
      bound_what_fits(family, group, TimeBound::schedules, runner);
}

}  // namespace shardplan
