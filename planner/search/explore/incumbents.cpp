#include <algorithm>
#include <cmath>
#include <planner/search/explore/incumbents.hpp>

namespace shardplan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

void BestAlternatives::add(std::size_t alternative, double seconds) {
  double& best = seconds_.try_emplace(alternative, never).first->second;
  if (seconds >= best) return;
  std::erase(fastest_, std::pair(best, alternative));
  best = seconds;
  const std::pair improved(seconds, alternative);
  fastest_.insert(std::upper_bound(fastest_.begin(), fastest_.end(), improved), improved);
  if (fastest_.size() > keep_) fastest_.pop_back();
}

double BestAlternatives::seconds_of(std::size_t alternative) const {
  const auto known = seconds_.find(alternative);
  return known == seconds_.end() ? never : known->second;
}

double BestAlternatives::fastest() const { return fastest_.empty() ? never : fastest_.front().first; }
double BestAlternatives::slowest() const { return fastest_.size() < keep_ ? never : fastest_.back().first; }

Incumbents::Incumbents(const std::vector<Parallelism>& parallelisms, const Scope& scope)
    : scope_(scope), best_(scope.keep) {
  best_of_.fill(never);
  for (const Parallelism& p : parallelisms)
    for (const Strategy strategy : strategies) uses_.push_back(uses(p, strategy));
}

void Incumbents::add(const Exploration& exploration) {
  double best = never;
  for (const Candidate& candidate : exploration.fitting()) {
    front_.add(candidate);
    best = std::min(best, candidate.cost.seconds_per_token);
  }
  if (!std::isfinite(best)) return;
  for (std::size_t i = 0; i < strategies.size(); ++i)
    if (is_of(exploration, i)) best_of_[i] = std::min(best_of_[i], best);
  best_.add(exploration.parallelism().alternative, best);
}

bool Incumbents::admit(const Exploration& exploration) const {
  return limits_of(exploration).admit(exploration.least_seconds(), exploration.least_peak(), front_);
}

Bar Incumbents::bar_for(const Exploration& exploration) const {
  return {front_, limits_of(exploration), margin(), scope_.front_margin};
}

double Incumbents::margin() const { return std::max(scope_.margin, indistinguishable); }

bool Incumbents::is_of(const Exploration& exploration, std::size_t strategy) const {
  return uses_[exploration.index() * strategies.size() + strategy];
}

/// Slower than `best`, a parallelism is neither among the best `keep` nor within the margin of the fastest, or its
/// alternative has a better one.
TimeLimits Incumbents::limits_of(const Exploration& exploration) const {
  TimeLimits limits{never, never};
  if (std::isfinite(best_.slowest())) {
    const double fastest = best_.fastest();
    limits.best = std::max({best_.slowest() * (1 + indistinguishable), fastest * (1 + scope_.margin),
                            slowest_of_strategies(exploration) * (1 + indistinguishable)});
    limits.on_front = fastest * (1 + scope_.front_margin);
  }
  limits.best = std::min(limits.best, best_.seconds_of(exploration.parallelism().alternative) * (1 + margin()));
  return limits;
}

/// What would be the best of one of its strategies.
double Incumbents::slowest_of_strategies(const Exploration& exploration) const {
  double slowest = 0;
  for (std::size_t i = 0; i < strategies.size() && scope_.best_of_strategies; ++i)
    if (is_of(exploration, i)) slowest = std::max(slowest, best_of_[i]);
  return slowest;
}

}  // namespace shardplan
