#include <algorithm>
#include <limits>
#include <planner/search/explore/exploration.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <tuple>

namespace shardplan {
namespace {

std::int64_t bound_on_larger(const Cost& smaller) {
  return static_cast<std::int64_t>(static_cast<double>(smaller.peak) / memory_slack);
}

Bytes allowed_memory(const Configuration& c) {
  const Bytes capacity = memory_capacity(c.hardware, c.memory_limits);
  return capacity - reserved_memory(capacity, c.memory_limits.reserve);
}

const Candidate* find(const std::vector<Candidate>& all, std::size_t remat, std::size_t batch) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Candidate& candidate) {
    return candidate.remat == remat && candidate.batch == batch;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

void Bar::raise(const Candidate& candidate) {
  const double seconds = candidate.cost.seconds_per_token;
  front.add(candidate);
  limits.best = std::min(limits.best, seconds * (1 + margin));
  limits.on_front = std::min(limits.on_front, seconds * (1 + front_margin));
}

void StepBound::add(double seconds_per_token, double share_in_bubble) {
  runs_.push_back({seconds_per_token * (1 - share_in_bubble), seconds_per_token * share_in_bubble});
}

double StepBound::with_bubble(double ratio) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Run& run : runs_) least = std::min(least, run.busy + run.bubble * ratio);
  return least;
}

Exploration::Exploration(const SearchSpace& space, const Parallelism& parallelism, std::size_t index,
                         const RematOrder& order, const Scope& scope)
    : space_(space),
      parallelism_(parallelism),
      order_(order),
      index_(index),
      peaks_matter_(scope.front_margin > 0),
      times_marginal_(scope.fastest_marginal),
      too_large_(parallelism.batches.size()) {
  if (parallelism.least_memory > most_memory(allowed_memory(space.base))) memory_ = Memory::too_large;
}

Cost Exploration::cost(Runner& runner, std::size_t remat, std::size_t batch) {
  if (const Candidate* known = find(costed_, remat, batch)) return known->cost;
  const RunCost run = runner.run(parallelism_, remat, parallelism_.batches[batch]);
  if (!find(sized_, remat, batch)) note(run);
  return costed_.emplace_back(Candidate{index_, remat, batch, cost_of(run, space_.required)}).cost;
}

Cost Exploration::memory(Runner& runner, std::size_t remat, std::size_t batch) {
  for (const auto* all : {&costed_, &sized_})
    if (const Candidate* known = find(*all, remat, batch)) return known->cost;
  if (space_.required.max_step) return cost(runner, remat, batch);
  const auto [run, is_new] = runner.memory(parallelism_, remat, parallelism_.batches[batch]);
  const Cost found = cost_of(run, space_.required);
  if (found.marginal && times_marginal_) return cost(runner, remat, batch);
  if (is_new) note(run);
  return sized_.emplace_back(Candidate{index_, remat, batch, found}).cost;
}

void Exploration::note(const RunCost& run) {
  ++evaluated_;
  if (const auto rejection = rejection_of(run, space_.required))
    rejections_.add(*rejection);
  else
    ++known_to_fit_;
}

/// Its memory does, or might under another policy.
bool Exploration::smallest_fits(Runner& runner, std::size_t batch) {
  return std::any_of(order_.smallest.begin(), order_.smallest.end(), [&](std::size_t remat) {
    const Cost known = memory(runner, remat, batch);
    return known.fits || known.only_too_slow || (known.only_too_large && !known.far_too_large());
  });
}

void Exploration::count_those_of_fused(Runner& runner) {
  fitting_ = std::max(fitting_, std::min(fused_->fitting_, too_large_));
  const std::size_t beyond = fused_->too_large_;
  if (beyond < too_large_ && !smallest_fits(runner, beyond)) too_large_ = beyond;
}

/// Memory is nearly linear in the batch. What may grow with the smallest one says which is too large, as far as it did for
/// the parallelism before; then the line through the smallest batch and the last one that was tried.
std::size_t Exploration::count_batches_that_may_fit(Runner& runner) {
  if (!memory_grows_with_batch()) return parallelism_.batches.size();
  if (fused_ && fused_->time_bound_ == TimeBound::fitting) count_those_of_fused(runner);
  if (fitting_ == too_large_) return too_large_;
  const auto smallest = [&](std::size_t batch) { return memory(runner, order_.smallest.front(), batch); };
  const auto room = [&](std::size_t batch) { return static_cast<double>(smallest(batch).room); };
  const double may_grow = std::max(static_cast<double>(smallest(0).growing), 1.0);
  for (double grows = may_grow * runner.share_that_grows(); fitting_ < too_large_;) {
    const double full = size_of(0) * (1 + room(0) / grows);
    std::size_t beyond = fitting_;
    while (beyond < too_large_ && size_of(beyond) <= full) ++beyond;
    if (beyond == too_large_) break;
    if (smallest_fits(runner, beyond))
      fitting_ = beyond + 1;
    else
      too_large_ = beyond;
    grows = std::max(room(0) - room(beyond), 1.0) / (size_of(beyond) / size_of(0) - 1);
    runner.set_share_that_grows(grows / may_grow);
  }
  return too_large_;
}

void Exploration::leave_out_above(std::int64_t microbatch) {
  while (too_large_ > 1 && microbatch_of(parallelism_, parallelism_.batches[too_large_ - 1]) > microbatch) --too_large_;
}

double Exploration::least_falling_seconds(Runner& runner, std::size_t remat, std::size_t batch) {
  const Candidate* known = fused_ ? find(fused_->costed_, remat, batch) : nullptr;
  return known ? known->cost.falling_seconds : cost(runner, remat, batch).falling_seconds;
}

bool Exploration::is_beaten_by_fused(std::size_t remat, std::size_t batch, const Bar& bar) const {
  if (!fused_ || peaks_matter_ || bar.margin > 0) return false;
  const Candidate* known = find(fused_->costed_, remat, batch);
  return known && known->cost.fits;
}

double Exploration::bound_seconds(Runner& runner, std::size_t batch, double slack) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t remat : order_.fastest) least = std::min(least, least_falling_seconds(runner, remat, batch));
  return least / slack;
}

StepBound Exploration::bound_step(Runner& runner, const BatchOption& batch, double slack) const {
  StepBound bound;
  for (const std::size_t remat : order_.fastest) {
    const RunCost run = runner.run(parallelism_, remat, batch);
    bound.add(cost_of(run, space_.required).falling_seconds / slack, run.time.bubble / run.time.with_routing());
  }
  return bound;
}

std::int64_t Exploration::bound_peak(Runner& runner, std::size_t batch) {
  if (!peaks_matter_ || !memory_grows_with_batch()) return 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t remat : order_.smallest) least = std::min(least, bound_on_larger(memory(runner, remat, batch)));
  return least;
}

void Exploration::probe_memory(Runner& runner) {
  // With accumulation steps to spare, a smaller batch needs not less memory: all have to be tried.
  const bool fused_fits = fused_ && fused_->memory_ == Memory::fits;
  const bool fits = fused_fits || smallest_fits(runner, 0) || !memory_grows_with_batch();
  memory_ = fits ? Memory::fits : Memory::too_large;
  if (fits) least_peak_ = bound_peak(runner, 0);
}

void Exploration::look_at_smallest(Runner& runner) {
  for (const std::size_t remat : order_.smallest) memory(runner, remat, 0);
}

bool Exploration::fits_at_all(Runner& runner) {
  if (!may_fit()) return false;
  for (std::size_t batch = 0; batch < parallelism_.batches.size(); ++batch) {
    const auto fits = [&](std::size_t remat) { return memory(runner, remat, batch).fits; };
    if (std::any_of(order_.smallest.begin(), order_.smallest.end(), fits)) return true;
    if (!memory_grows_with_batch() || smallest_fits(runner, batch)) continue;
    if (batch == 0) memory_ = Memory::too_large;
    return false;
  }
  return false;
}

void Exploration::probe_time(Runner& runner) {
  assume_no_faster(bound_seconds(runner, parallelism_.batches.size() - 1, time_slack), TimeBound::own);
}

std::size_t Exploration::bound_fitting(Runner& runner) {
  const std::size_t batches = count_batches_that_may_fit(runner);
  assume_no_faster(bound_seconds(runner, batches - 1, fitting_slack), TimeBound::fitting);
  return batches;
}

void Exploration::bound_between(Runner& runner) {
  const std::size_t batches = bound_fitting(runner);
  const bool has_next = memory_grows_with_batch() && batches < parallelism_.batches.size();
  const double next = has_next ? bound_seconds(runner, batches, fitting_slack) : least_seconds_;
  least_seconds_between_ = std::min(least_seconds_, next);
}

void Exploration::rule_out(const Exploration& smaller) {
  memory_ = Memory::too_large;
  rejections_.add(smaller.rejections_);
}

/// Smaller batches take longer a token and need no less than the smallest of all.
bool Exploration::no_smaller_reaches(Runner& runner, std::size_t batch, const Bar& bar) {
  return memory_grows_with_batch() && !bar.is_reached(bound_seconds(runner, batch, fitting_slack), least_peak_);
}

/// Every policy at one batch, smallest first, but for those known not to fit or not to reach the bar: `limits` are what
/// the smaller policies need already.
void Exploration::expand_batch(Runner& runner, std::size_t batch, Bar& bar, std::vector<Larger>& larger) {
  const double seconds = bound_seconds(runner, batch, fitting_slack);
  if (!bar.is_reached_by_time(seconds)) {  // the peak is looked at where it matters
    if (!bar.is_reached(seconds, bound_peak(runner, batch))) return;
  }
  std::vector<std::int64_t> limits(order_.larger.size(), 0);
  std::vector<char> too_large(order_.larger.size());
  for (const std::size_t remat : order_.policies) {
    Larger& of_larger = larger[remat];
    const double least = std::max(seconds, of_larger.cost.falling_seconds / batch_slack);
    if (too_large[remat] || !bar.is_reached(least, limits[remat]) || is_beaten_by_fused(remat, batch, bar)) continue;
    if (of_larger.size > 0 && of_larger.cost.is_too_large_with(size_of(batch) / of_larger.size)) continue;
    const Cost known = cost(runner, remat, batch);
    of_larger = {memory_grows_with_batch() ? size_of(batch) : 0, known};
    if (known.fits) bar.raise({index_, remat, batch, known});
    for (const std::size_t other : order_.larger[remat]) {
      limits[other] = std::max(limits[other], bound_on_larger(known));
      if (known.far_too_large()) too_large[other] = true;
    }
  }
}

/// From the largest batch, where the fastest candidates are, down. What the sizes of operands decide may be decided
/// otherwise for the smallest one, of which a token then takes less than of those next to it: it is looked at for itself
/// (deepseek3-671b on 64 chips of 7x: a quarter of a sequence a device is 23% faster than half of one).
void Exploration::expand(Runner& runner, Bar& bar) {
  if (!reaches(bar)) return;
  const std::size_t batches = bound_fitting(runner);
  std::vector<Larger> larger(space_.remat_policies.size());
  std::size_t batch = batches;
  for (; batch > 1 && !no_smaller_reaches(runner, batch - 1, bar); --batch)
    expand_batch(runner, batch - 1, bar, larger);
  if (!smallest_reaches(bar)) return;
  for (Larger& known : larger) known.cost.forget_time();
  expand_batch(runner, 0, bar, larger);
}

/// Costed candidates of which `member` is set, by remat policy and batch.
std::vector<Candidate> Exploration::costed(bool Cost::*member) const {
  std::vector<Candidate> found;
  std::copy_if(costed_.begin(), costed_.end(), std::back_inserter(found),
               [&](const Candidate& candidate) { return candidate.cost.*member; });
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.remat, a.batch) < std::pair(b.remat, b.batch);
  });
  return found;
}

std::vector<Candidate> Exploration::fitting() const { return costed(&Cost::fits); }
std::vector<Candidate> Exploration::marginal() const { return costed(&Cost::marginal); }

bool Exploration::has_marginal() const {
  const auto is_marginal = [](const Candidate& candidate) { return candidate.cost.marginal; };
  return std::any_of(costed_.begin(), costed_.end(), is_marginal) || std::any_of(sized_.begin(), sized_.end(), is_marginal);
}

std::optional<Candidate> Exploration::smallest() const {
  auto too_large = costed(&Cost::only_too_large);
  std::copy_if(sized_.begin(), sized_.end(), std::back_inserter(too_large),
               [](const Candidate& candidate) { return candidate.cost.only_too_large; });
  const auto least = std::min_element(too_large.begin(), too_large.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.cost.peak, a.remat, a.batch) < std::tuple(b.cost.peak, b.remat, b.batch);
  });
  return least == too_large.end() ? std::nullopt : std::optional(*least);
}

}  // namespace shardplan
