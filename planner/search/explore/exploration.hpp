#pragma once
// The remat policies and batches of one parallelism, costed as few times as the answer allows. Two facts carry it
// (tests/unit/search/bounds_test.cpp checks them on the cost model):
//   memory grows with the batch and with what is saved      → what doesn't fit rules out all that is larger
//   a token's time falls with the batch and with what is saved → the largest batch that fits, saving most, bounds it
#include <memory>
#include <planner/search/space/candidate.hpp>
#include <planner/search/explore/front.hpp>
#include <planner/search/space/parallelism.hpp>
#include <planner/search/space/rejections.hpp>
#include <planner/search/space/remat_order.hpp>
#include <vector>

namespace shardplan {

/// What a candidate has to do to matter, given what has been found so far.
struct Bar {
  Front front;
  double slowest_best;          ///< no slower than this it may be recommended or be an alternative, whatever its memory
  double slowest_on_front;      ///< no slower than this it may be on the front
  double margin, front_margin;  ///< what a candidate of the same alternative may lose on the fastest known, and still
                                ///< be chosen in its place, or be on the front
  bool is_reached(double seconds_per_token, std::int64_t peak) const {
    return seconds_per_token <= slowest_best ||
           (seconds_per_token <= slowest_on_front && !front.beats(seconds_per_token, peak));
  }
  /// Raises it by what one of the same alternative reaches.
  void raise(const Candidate& candidate);
};

class Exploration {
 public:
  Exploration(const SearchSpace& space, const Parallelism& parallelism, std::size_t index, const RematOrder& order);

  Exploration(Exploration&&) noexcept;
  ~Exploration();

  /// Costs the smallest candidate.
  void probe_memory(const Evaluator& evaluate);
  /// Costs the fastest candidate that there could be, whether it fits or not.
  void probe_time(const Evaluator& evaluate);
  /// In place of them: `smaller` needs no more memory and doesn't fit; no candidate is faster than `fastest`'s.
  void rule_out(const Exploration& smaller);
  void assume_no_faster(const Exploration& fastest) { least_seconds_ = fastest.least_seconds_; }
  /// Costs every candidate that could reach the bar.
  void expand(const Evaluator& evaluate, Bar bar);
  /// Lets go of what costing more candidates would start from.
  void rest();

  const Parallelism& parallelism() const { return parallelism_; }
  bool fits() const { return fits_; }
  std::size_t index() const { return index_; }
  double least_seconds() const { return least_seconds_; }  ///< per token, of any candidate

  std::vector<Candidate> fitting() const;
  std::vector<Candidate> marginal() const;    ///< of the costed ones
  std::optional<Candidate> smallest() const;  ///< of those that break no constraint but memory
  bool has_too_slow() const { return !costed(&Cost::only_too_slow).empty(); }
  const Rejections& rejections() const { return rejections_; }
  std::int64_t evaluated() const { return evaluated_; }

 private:
  class Runner;
  Runner& runner(const Evaluator& evaluate);
  Cost cost(Runner& runner, std::size_t remat, std::size_t batch);
  bool smallest_fits(Runner& runner, std::size_t batch);
  std::size_t count_fitting_batches(Runner& runner);
  std::vector<Candidate> costed(bool Cost::*member) const;
  double bound_seconds(Runner& runner, std::size_t batch);
  std::int64_t bound_peak(Runner& runner, std::size_t batch);
  void expand_batch(Runner& runner, std::size_t batch, Bar& bar);
  bool no_smaller_reaches(Runner& runner, std::size_t batch, const Bar& bar);
  bool memory_grows_with_batch() const { return !space_.global_batch_tokens; }

  const SearchSpace& space_;
  const Parallelism& parallelism_;
  const RematOrder& order_;
  std::size_t index_;
  bool fits_ = false, is_timed_ = false;
  double least_seconds_ = 0;
  std::int64_t least_peak_ = 0;
  std::int64_t evaluated_ = 0;
  std::vector<Candidate> costed_;  ///< in the order of their costing; few of all that there are
  Rejections rejections_;
  std::unique_ptr<Runner> runner_;  ///< while candidates are costed
};

}  // namespace shardplan
