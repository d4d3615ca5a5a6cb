#include <algorithm>
#include <cmath>
#include <limits>
#include <planner/search/explore.hpp>
#include <planner/search/parallel_for.hpp>
#include <tuple>

namespace shardplan {
namespace {

// Explorations of one round don't see each other's results, so the round is part of the answer's definition: it must
// not follow the number of threads.
constexpr std::size_t round_size = 4;

using Explorations = std::vector<Exploration>;

/// Most promising first.
std::vector<Exploration*> in_order_of_promise(Explorations& explorations) {
  std::vector<Exploration*> order;
  for (auto& exploration : explorations)
    if (exploration.fits()) order.push_back(&exploration);
  std::sort(order.begin(), order.end(), [](const Exploration* a, const Exploration* b) {
    return std::tuple(a->least_seconds(), a->index()) < std::tuple(b->least_seconds(), b->index());
  });
  return order;
}

/// What is certain so far.
class Incumbents {
 public:
  explicit Incumbents(const Scope& scope) : scope_(scope) {}

  void add(const Exploration& exploration) {
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : exploration.fitting()) {
      front_.add(candidate);
      best = std::min(best, candidate.cost.seconds_per_token);
    }
    if (std::isfinite(best)) best_.insert(std::upper_bound(best_.begin(), best_.end(), best), best);
  }

  /// Slower than slowest_best, a parallelism is neither among the best `keep` nor within the margin of the fastest.
  Bar bar() const {
    const double none = std::numeric_limits<double>::infinity();
    if (best_.size() < scope_.keep) return {front_, none, none};
    const double fastest = best_.front();
    return {front_, std::max(best_[scope_.keep - 1], fastest * (1 + scope_.margin)),
            fastest * (1 + scope_.front_margin)};
  }

 private:
  Scope scope_;
  Front front_;
  std::vector<double> best_;  // of each parallelism, rising
};

void expand_in_rounds(const std::vector<Exploration*>& order, Incumbents& incumbents, const Evaluator& evaluate) {
  for (std::size_t begin = 0; begin < order.size(); begin += round_size) {
    const std::size_t size = std::min(round_size, order.size() - begin);
    const Bar bar = incumbents.bar();
    parallel_for(size, [&](std::size_t i) { order[begin + i]->expand(evaluate, bar); });
    for (std::size_t i = 0; i < size; ++i) incumbents.add(*order[begin + i]);
  }
}

Front front_of(const std::vector<Candidate>& candidates, const Scope& scope) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& candidate : candidates) fastest = std::min(fastest, candidate.cost.seconds_per_token);
  Front front;
  for (const auto& candidate : candidates)
    if (candidate.cost.seconds_per_token <= fastest * (1 + scope.front_margin)) front.add(candidate);
  return front;
}

Explored collect(const Explorations& explorations, const Scope& scope) {
  Explored explored;
  for (const auto& exploration : explorations) {
    const auto fitting = exploration.fitting();
    explored.fitting.insert(explored.fitting.end(), fitting.begin(), fitting.end());
    explored.least_seconds.push_back(exploration.fits() ? std::optional(exploration.least_seconds()) : std::nullopt);
    const auto smallest = exploration.smallest();
    if (smallest && (!explored.smallest || smallest->cost.peak < explored.smallest->cost.peak))
      explored.smallest = smallest;
    explored.rejections.add(exploration.rejections());
    explored.evaluated += exploration.evaluated();
  }
  if (!explored.fitting.empty()) explored.smallest.reset();
  explored.front = front_of(explored.fitting, scope);
  return explored;
}

}  // namespace

Explored explore(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                 const Evaluator& evaluate) {
  const RematOrder order = remat_order(space);
  Explorations explorations;
  for (std::size_t i = 0; i < parallelisms.size(); ++i) explorations.emplace_back(space, parallelisms[i], i, order);
  parallel_for(explorations.size(), [&](std::size_t i) { explorations[i].probe(evaluate); });
  Incumbents incumbents(scope);
  expand_in_rounds(in_order_of_promise(explorations), incumbents, evaluate);
  return collect(explorations, scope);
}

}  // namespace shardplan
