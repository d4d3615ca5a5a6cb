#pragma once
// What a search is certain of so far, and what a parallelism has to reach to matter.
#include <array>
#include <limits>
#include <planner/search/explore/exploration.hpp>
#include <planner/search/explore/scope.hpp>
#include <planner/search/strategies.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shardplan {

/// Times that differ by less no cost model can tell apart.
inline constexpr double indistinguishable = 0.001;

/// The fastest alternatives, so many as matter.
class BestAlternatives {
 public:
  explicit BestAlternatives(std::size_t keep) : keep_(keep) {}

  void add(std::size_t alternative, double seconds);
  /// Infinite where nothing is known.
  double seconds_of(std::size_t alternative) const;
  double fastest() const;
  double slowest() const;  ///< of those that matter; infinite where there are fewer

 private:
  std::size_t keep_;
  std::unordered_map<std::size_t, double> seconds_;
  std::vector<std::pair<double, std::size_t>> fastest_;  ///< rising seconds of alternatives
};

class Incumbents {
 public:
  Incumbents(const std::vector<Parallelism>& parallelisms, const Scope& scope);

  void add(const Exploration& exploration);
  /// Whether one of its candidates may matter.
  bool admit(const Exploration& exploration) const;
  Bar bar_for(const Exploration& exploration) const;

 private:
  double margin() const;
  bool is_of(const Exploration& exploration, std::size_t strategy) const;
  TimeLimits limits_of(const Exploration& exploration) const;
  double slowest_of_strategies(const Exploration& exploration) const;

  Scope scope_;
  std::vector<bool> uses_;  ///< by parallelism and strategy
  Front front_;
  std::array<double, strategies.size()> best_of_;  ///< by strategy
  BestAlternatives best_;
};

}  // namespace shardplan
