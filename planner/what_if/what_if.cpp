#include <algorithm>
#include <cmath>
#include <planner/evaluate/changed_mesh.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/flagged_memory.hpp>
#include <planner/what_if/changes.hpp>
#include <planner/what_if/what_if.hpp>

namespace shardplan {
namespace {

/// No parts of sequences, and in a pipeline one a microbatch at least: of less there is nothing to cost.
bool has_whole_batch(const Configuration& c) {
  const double sequences = sequences_in_a_pass(c.config, c.mesh.devices());
  return sequences == std::floor(sequences) && layer_batch(c) >= 1;
}

bool is_faster(const WhatIf& a, const WhatIf& b) { return a.faster > b.faster; }

/// Fitting first, then fast.
bool is_better(const WhatIf& a, const WhatIf& b) {
  const bool fits = a.run.memory.fit() == Fit::fits;
  return fits == (b.run.memory.fit() == Fit::fits) ? is_faster(a, b) : fits;
}

/// Costs changes of one run. Programs are shared: policies and meshes have the same.
class Costing {
 public:
  /// `now` and its cost; it must outlive this.
  Costing(const Configuration& now, const RunCost& cost) : now_(now), tokens_now_(cost.tokens_per_second_with_routing()) {}

  std::vector<WhatIf> operator()(std::vector<RunChange> changes) {
    std::vector<WhatIf> costed;
    for (RunChange& change : changes) {
      if (!has_whole_batch(change.configuration)) continue;
      follow_mesh(change.configuration, now_);
      const auto configuration = std::make_shared<const Configuration>(std::move(change.configuration));
      PreparedMesh mesh(&programs_);
      RunCost run = evaluate_cost(*configuration, mesh);
      if (!runs_if_large_enough(run)) continue;
      span_assumed_flags(run.memory, *configuration);
      const double faster = run.tokens_per_second_with_routing() / tokens_now_ - 1;
      costed.push_back({change.kind, std::move(change.words), configuration, std::move(run), faster});
    }
    std::stable_sort(costed.begin(), costed.end(), is_faster);
    return costed;
  }

 private:
  const Configuration& now_;
  double tokens_now_;
  ProgramCache programs_;
};

/// Of what is sorted by time: what is smaller than all that are faster, and unlike the run as it is.
std::vector<WhatIf> front_of(const std::vector<WhatIf>& sorted, const RunCost& now) {
  std::vector<WhatIf> front;
  for (const WhatIf& one : sorted) {
    const Bytes peak = one.run.memory.peak();
    if (!front.empty() && front.back().run.memory.peak() <= peak) continue;
    if (one.faster <= 0 && now.memory.peak() <= peak) continue;
    front.push_back(one);
  }
  return front;
}

std::vector<RunChange> with_as_many_tokens(const WhatIf& larger) {
  RunChange change{larger.kind, larger.change + ", the same tokens a step", *larger.configuration};
  change.configuration.config.per_device_batch_size /= 2;
  return {std::move(change)};
}

/// Twice the chips with as many sequences a device, and with as many tokens a step; half of them.
std::vector<WhatIf> other_sizes(const Configuration& configuration, Costing& cost) {
  std::vector<WhatIf> sizes;
  const auto best = [&](double factor) {
    const auto costed = cost(on_chips(configuration, factor));
    const auto found = std::min_element(costed.begin(), costed.end(), is_better);
    if (found != costed.end()) sizes.push_back(*found);
    return found != costed.end();
  };
  if (best(2))
    for (WhatIf& same : cost(with_as_many_tokens(sizes.back()))) sizes.push_back(std::move(same));
  best(0.5);
  return sizes;
}

/// The fastest, where it is worth a word, and the fastest that surely fits, where that is another.
std::vector<WhatIf> best_blocks(const Configuration& configuration, Costing& cost) {
  constexpr double worth_saying = 0.01;
  std::vector<WhatIf> best;
  for (WhatIf& one : cost(other_attention_blocks(configuration))) {
    if (one.faster < worth_saying) continue;
    const bool fits = one.run.memory.fit() == Fit::fits;
    if (best.empty() || (fits && best.front().run.memory.fit() != Fit::fits)) best.push_back(std::move(one));
    if (fits) break;
  }
  return best;
}

void append(std::vector<WhatIf>& all, std::vector<WhatIf> some) {
  for (WhatIf& one : some) all.push_back(std::move(one));
}

}  // namespace

std::vector<WhatIf> what_ifs_of(const Configuration& c, const Evaluation& now) {
  Costing cost(c, now);
  std::vector<WhatIf> all = front_of(cost(other_remat_policies(c)), now);
  append(all, cost(other_batches(c)));
  append(all, cost(other_sequences(c)));
  append(all, cost(moved_factors(c)));
  append(all, other_sizes(c, cost));
  append(all, cost(other_states(c)));
  append(all, cost(other_flags(c, now.flag_worths)));
  append(all, best_blocks(c, cost));
  return all;
}

}  // namespace shardplan
