#pragma once
// The remat policies and batches of one parallelism, costed as few times as the answer allows. Two facts carry it
// (tests/unit/search/bounds_test.cpp checks them on the cost model):
//   memory grows with the batch and with what is saved      → what doesn't fit rules out all that is larger
//   a token's time falls with the batch and with what is saved → the largest batch that fits, saving most, bounds it
//     (but for experts' bias gradients on GPUs, which are left out of bounds)
#include <planner/search/explore/front.hpp>
#include <planner/search/explore/runner.hpp>
#include <planner/search/explore/scope.hpp>
#include <planner/search/space/parallelism.hpp>
#include <limits>
#include <planner/search/space/rejections.hpp>
#include <planner/search/space/remat_order.hpp>
#include <vector>

namespace shardplan {

/// How slow a candidate may be to matter.
struct TimeLimits {
  double best;      ///< it may be recommended or be an alternative, whatever its memory
  double on_front;  ///< it may be on the front
  bool admit(double seconds_per_token, std::int64_t peak, const Front& front) const {
    return seconds_per_token <= best || (seconds_per_token <= on_front && !front.beats(seconds_per_token, peak));
  }
};

/// What a candidate has to do to matter, given what has been found so far.
struct Bar {
  Front front;
  TimeLimits limits;
  double margin, front_margin;  ///< what a candidate of the same alternative may lose on the fastest known, and still
                                ///< be chosen in its place, or be on the front
  bool is_reached(double seconds_per_token, std::int64_t peak) const {
    return limits.admit(seconds_per_token, peak, front);
  }
  /// Whatever its peak.
  bool is_reached_by_time(double seconds_per_token) const { return seconds_per_token <= limits.best; }
  /// Raises it by what one of the same alternative reaches.
  void raise(const Candidate& candidate);
};

/// What a bound on seconds was taken from.
enum class TimeBound : std::uint8_t {
  none,
  sharding,   ///< one evaluation for all schedules of a sharding
  schedules,  ///< one for those that differ in their microbatches alone
  own,
  fitting     ///< its own at the largest batch that may fit
};

/// Seconds a token that some schedule gets below under no policy; with a bubble that is `ratio` times its own.
class StepBound {
 public:
  void add(double seconds_per_token, double share_in_bubble);
  double with_bubble(double ratio) const;

 private:
  struct Run {
    double busy, bubble;
  };
  std::vector<Run> runs_;  ///< one a policy
};

class Exploration {
 public:
  /// Whose weights alone are too large doesn't fit, and is not costed.
  Exploration(const SearchSpace& space, const Parallelism& parallelism, std::size_t index, const RematOrder& order,
              const Scope& scope);

  /// What is known of `fused`, the same with one kernel for attention's gradients (fuses_attention_of), spares looks at this
  /// one. It must outlive it.
  void follow(const Exploration& fused) { fused_ = &fused; }

  /// Costs the smallest candidate.
  void probe_memory(Runner& runner);
  /// Costs the fastest candidate that there could be, whether it fits or not.
  void probe_time(Runner& runner);
  /// What it takes less than under no policy, at a batch that may be none of its own; `slack`: how far that may be wrong.
  StepBound bound_step(Runner& runner, const BatchOption& batch, double slack) const;
  /// Of what may fit; how many batches do.
  std::size_t bound_fitting(Runner& runner);
  /// At batches between those that are searched, too: what fits is less than the first of them that doesn't.
  void bound_between(Runner& runner);
  /// How many batches may fit under some policy, smallest first: the next one doesn't. Of a parallelism whose smallest does.
  std::size_t count_batches_that_may_fit(Runner& runner);
  /// Batches whose microbatches have more sequences are known not to fit.
  void leave_out_above(std::int64_t microbatch);
  /// With accumulation steps to spare, a smaller batch needs not less memory.
  bool memory_grows_with_batch() const { return !space_.global_batch_tokens; }
  /// Of what is known not to fit, for what it needs: of its candidates that break no other constraint the smallest.
  void look_at_smallest(Runner& runner);
  /// In place of them: `smaller` needs no more memory and doesn't fit; no candidate takes less a token.
  void rule_out(const Exploration& smaller);
  void assume_no_faster(double seconds_per_token, TimeBound bound) {
    least_seconds_ = std::min(seconds_per_token, least_seconds_of_smallest_.value_or(seconds_per_token));
    if (time_bound_ == TimeBound::none) least_seconds_at_any_ = least_seconds_;
    time_bound_ = bound;
  }
  /// No candidate of the smallest batch takes less than what was assumed last.
  void assume_smallest_no_faster() { least_seconds_of_smallest_ = least_seconds_; }
  /// Costs every candidate that could reach the bar, which they raise.
  void expand(Runner& runner, Bar& bar);

  const Parallelism& parallelism() const { return parallelism_; }
  /// Whether one of its candidates under the smallest policies fits; nothing else is looked at.
  bool fits_at_all(Runner& runner);

  TimeBound time_bound() const { return time_bound_; }
  bool is_probed() const { return memory_ != Memory::unknown; }
  bool is_looked_at() const { return !costed_.empty() || !sized_.empty(); }
  bool may_fit() const { return memory_ != Memory::too_large; }  ///< as far as is known
  bool reaches(const Bar& bar) const { return bar.is_reached(least_seconds_, least_peak_); }
  /// Whether a candidate of its smallest batch may.
  bool smallest_reaches(const Bar& bar) const {
    return !least_seconds_of_smallest_ || bar.is_reached(*least_seconds_of_smallest_, least_peak_);
  }
  std::size_t index() const { return index_; }
  double least_seconds() const { return least_seconds_; }  ///< per token, of any candidate; infinite until it is bounded
  /// The same of batches between, too (finer_batches.hpp).
  double least_seconds_between() const { return least_seconds_between_.value_or(least_seconds_at_any_); }
  bool is_bounded_between() const { return least_seconds_between_.has_value(); }
  std::int64_t least_peak() const { return least_peak_; }  ///< likewise, bytes per device

  std::vector<Candidate> fitting() const;
  std::vector<Candidate> marginal() const;    ///< of the costed ones
  bool has_marginal() const;                  ///< of all
  std::optional<Candidate> smallest() const;  ///< of those that break no constraint but memory
  bool has_too_slow() const { return !costed(&Cost::only_too_slow).empty(); }
  const Rejections& rejections() const { return rejections_; }
  std::int64_t evaluated() const { return evaluated_; }
  std::int64_t known_to_fit() const { return known_to_fit_; }  ///< of the evaluated ones

 private:
  Cost cost(Runner& runner, std::size_t remat, std::size_t batch);
  /// Where its time isn't known either, without it.
  Cost memory(Runner& runner, std::size_t remat, std::size_t batch);
  void note(const RunCost& run);
  bool smallest_fits(Runner& runner, std::size_t batch);
  /// The batches that may fit with fused gradients do with less memory; often no other.
  void count_those_of_fused(Runner& runner);
  double size_of(std::size_t batch) const { return parallelism_.batches[batch].per_device_batch_size; }
  std::vector<Candidate> costed(bool Cost::*member) const;
  double bound_seconds(Runner& runner, std::size_t batch, double slack);
  std::int64_t bound_peak(Runner& runner, std::size_t batch);
  /// What a policy costs at a larger batch.
  struct Larger {
    double size = 0;  ///< 0: nothing is known
    Cost cost = {};
  };
  void expand_batch(Runner& runner, std::size_t batch, Bar& bar, std::vector<Larger>& larger);
  bool no_smaller_reaches(Runner& runner, std::size_t batch, const Bar& bar);
  /// What falls with the batch of a candidate's time, or of the same with fused gradients, where that is known.
  double least_falling_seconds(Runner& runner, std::size_t remat, std::size_t batch);
  /// Whether the same with fused gradients, which takes no longer, fits.
  bool is_beaten_by_fused(std::size_t remat, std::size_t batch, const Bar& bar) const;

  const SearchSpace& space_;
  const Parallelism& parallelism_;
  const RematOrder& order_;
  std::size_t index_;
  const Exploration* fused_ = nullptr;
  bool peaks_matter_;    ///< a slow candidate of little memory may
  bool times_marginal_;  ///< what is expected to fit, but not surely, is costed
  enum class Memory : std::uint8_t { unknown, fits, too_large } memory_ = Memory::unknown;
  TimeBound time_bound_ = TimeBound::none;
  double least_seconds_ = std::numeric_limits<double>::infinity();
  std::optional<double> least_seconds_of_smallest_;  ///< of its smallest batch
  double least_seconds_at_any_ = std::numeric_limits<double>::infinity();  ///< of any batch, whether it fits or not
  std::optional<double> least_seconds_between_;  ///< of any that may fit, whether it is searched or not
  std::int64_t least_peak_ = 0;
  std::size_t fitting_ = 1;  ///< so many batches are known to fit, if the first does
  std::size_t too_large_;    ///< the first batch that is known not to
  std::int64_t evaluated_ = 0, known_to_fit_ = 0;
  std::vector<Candidate> costed_;  ///< in the order of their costing; few of all that there are
  std::vector<Candidate> sized_;   ///< of which the memory was looked at alone, their time too later on or not
  Rejections rejections_;
};

}  // namespace shardplan
