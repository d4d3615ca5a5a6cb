#include <algorithm>
#include <cmath>
#include <limits>
#include <planner/search/explore/explore.hpp>
#include <shardplan/parallel_for.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <planner/search/strategies.hpp>
#include <span>
#include <tuple>

namespace shardplan {
namespace {

// Explorations of one round don't see each other's results, so the round is part of the answer's definition: it must
// not follow the number of threads.
constexpr std::size_t round_size = 4;

using Explorations = std::vector<Exploration>;

/// The schedules of one sharding, which enumerate_parallelisms leaves side by side: what one of them shows may spare
/// the others their own probes.
using Family = std::span<Exploration>;

std::vector<Family> families_of(Explorations& explorations) {
  const auto related = [](const Exploration& a, const Exploration& b) {
    return is_alike(a.parallelism(), b.parallelism()) && a.parallelism().mesh == b.parallelism().mesh;
  };
  std::vector<Family> families;
  for (std::size_t begin = 0, end = 0; begin < explorations.size(); begin = end) {
    while (end < explorations.size() && related(explorations[begin], explorations[end])) ++end;
    families.push_back(Family(explorations).subspan(begin, end - begin));
  }
  return families;
}

void probe_memory(Family family, const Evaluator& evaluate) {
  for (std::size_t i = 0; i < family.size(); ++i) {
    const auto rules_out = [&](const Exploration& other) {
      return !other.fits() && needs_no_more_memory(other.parallelism(), family[i].parallelism());
    };
    const Family known = family.first(i);
    const auto smaller = std::find_if(known.begin(), known.end(), rules_out);
    if (smaller != known.end())
      family[i].rule_out(*smaller);
    else
      family[i].probe_memory(evaluate);
  }
}

/// Backwards: most microbatches first.
void probe_time(Family family, const Evaluator& evaluate) {
  for (std::size_t i = family.size(); i-- > 0;) {
    if (!family[i].fits()) continue;
    const auto is_bound = [&](const Exploration& other) {
      return other.fits() && takes_no_longer(other.parallelism(), family[i].parallelism());
    };
    const Family known = family.subspan(i + 1);
    const auto fastest = std::find_if(known.begin(), known.end(), is_bound);
    if (fastest != known.end())
      family[i].assume_no_faster(*fastest);
    else
      family[i].probe_time(evaluate);
  }
}

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

constexpr double never = std::numeric_limits<double>::infinity();

/// What is certain so far.
class Incumbents {
 public:
  explicit Incumbents(const Scope& scope) : scope_(scope) { best_of_.fill(never); }

  void add(const Exploration& exploration) {
    double best = never;
    for (const Candidate& candidate : exploration.fitting()) {
      front_.add(candidate);
      best = std::min(best, candidate.cost.seconds_per_token);
    }
    if (!std::isfinite(best)) return;
    for (std::size_t i = 0; i < strategies.size(); ++i)
      if (uses(exploration.parallelism().mesh, strategies[i])) best_of_[i] = std::min(best_of_[i], best);
    add_alternative(exploration.parallelism(), best);
  }

  /// Slower than slowest_best, a parallelism is neither among the best `keep` nor within the margin of the fastest, or
  /// its alternative has a better one.
  Bar bar_for(const Exploration& exploration) const {
    const double margin = std::max(scope_.margin, indistinguishable);
    Bar bar{front_, never, never, margin, scope_.front_margin};
    if (best_.size() >= scope_.keep) {
      const double fastest = best_.front().seconds;
      bar.slowest_best =
          std::max({best_[scope_.keep - 1].seconds * (1 + indistinguishable), fastest * (1 + scope_.margin),
                    slowest_of_strategies(exploration.parallelism().mesh) * (1 + indistinguishable)});
      bar.slowest_on_front = fastest * (1 + scope_.front_margin);
    }
    const auto alike = find_alike(exploration.parallelism());
    if (alike != best_.end()) bar.slowest_best = std::min(bar.slowest_best, alike->seconds * (1 + margin));
    return bar;
  }

 private:
  struct Alternative {
    const Parallelism* parallelism;
    double seconds;
  };

  /// What would be the best of one of its strategies.
  double slowest_of_strategies(const Mesh& mesh) const {
    double slowest = 0;
    for (std::size_t i = 0; i < strategies.size() && scope_.best_of_strategies; ++i)
      if (uses(mesh, strategies[i])) slowest = std::max(slowest, best_of_[i]);
    return slowest;
  }

  std::vector<Alternative>::const_iterator find_alike(const Parallelism& parallelism) const {
    return std::find_if(best_.begin(), best_.end(),
                        [&](const Alternative& a) { return is_alike(*a.parallelism, parallelism); });
  }

  void add_alternative(const Parallelism& parallelism, double seconds) {
    const auto alike = find_alike(parallelism);
    if (alike == best_.end())
      best_.push_back({&parallelism, seconds});
    else
      best_[alike - best_.begin()].seconds = std::min(alike->seconds, seconds);
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Alternative& a, const Alternative& b) { return a.seconds < b.seconds; });
  }

  Scope scope_;
  Front front_;
  std::array<double, strategies.size()> best_of_;  // by strategy
  std::vector<Alternative> best_;                  // fastest first
};

/// How many the budget left.
std::size_t expand_in_rounds(const std::vector<Exploration*>& order, Incumbents& incumbents, const Evaluator& evaluate,
                             const SearchBudget& budget) {
  for (std::size_t begin = 0; begin < order.size(); begin += round_size) {
    if (budget.is_spent()) return order.size() - begin;
    budget.progress(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(order.size()), true);
    const std::size_t size = std::min(round_size, order.size() - begin);
    parallel_for(size, [&](std::size_t i) {
      Exploration& exploration = *order[begin + i];
      exploration.expand(evaluate, incumbents.bar_for(exploration));
      exploration.rest();
    });
    for (std::size_t i = 0; i < size; ++i) incumbents.add(*order[begin + i]);
  }
  return 0;
}

/// What each needs and takes at the least; how many the budget left.
std::size_t bound(Explorations& explorations, const Evaluator& evaluate, const SearchBudget& budget) {
  const auto families = families_of(explorations);
  const auto end = budget.half_time();  // the promising ones have to be costed, too
  std::atomic<std::size_t> done = 0, left = 0;
  parallel_for(families.size(), [&](std::size_t i) {
    if (budget.is_spent(end)) {
      left += families[i].size();
      return;
    }
    probe_memory(families[i], evaluate);
    probe_time(families[i], evaluate);
    for (Exploration& exploration : families[i]) exploration.rest();
    done += families[i].size();
    budget.progress(static_cast<std::int64_t>(done), static_cast<std::int64_t>(explorations.size()), false);
  });
  return left;
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
    for (const Candidate& candidate : exploration.marginal())
      if (!explored.marginal || candidate.cost.seconds_per_token < explored.marginal->cost.seconds_per_token)
        explored.marginal = candidate;
    const auto smallest = exploration.smallest();
    if (smallest && (!explored.smallest || smallest->cost.peak < explored.smallest->cost.peak))
      explored.smallest = smallest;
    explored.rejections.add(exploration.rejections());
    explored.evaluated += exploration.evaluated();
  }
  const bool lacks_time = std::any_of(explorations.begin(), explorations.end(), [](const Exploration& e) { return e.has_too_slow(); });
  if (!explored.fitting.empty() || lacks_time) explored.smallest.reset();
  explored.front = front_of(explored.fitting, scope);
  return explored;
}

}  // namespace

Explored explore(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                 const Evaluator& evaluate, const SearchBudget& budget) {
  const RematOrder plain = remat_order(space, policies_with(space, 1));
  const RematOrder pipelined = remat_order(space, policies_with(space, 2));
  Explorations explorations;
  explorations.reserve(parallelisms.size());
  for (std::size_t i = 0; i < parallelisms.size(); ++i)
    explorations.emplace_back(space, parallelisms[i], i,
                              pipeline_stages(parallelisms[i].mesh) > 1 ? pipelined : plain);
  std::size_t left = bound(explorations, evaluate, budget);
  Incumbents incumbents(scope);
  left += expand_in_rounds(in_order_of_promise(explorations), incumbents, evaluate, budget);
  Explored explored = collect(explorations, scope);
  explored.left = static_cast<std::int64_t>(left);
  return explored;
}

}  // namespace shardplan
