#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <planner/search/explore/explore.hpp>
#include <planner/search/explore/family.hpp>
#include <shardplan/parallel_for.hpp>
#include <tuple>

namespace shardplan {
namespace {

// Kin of one round don't see each other's results, so the round is part of the answer's definition: it must
// not follow the number of threads.
constexpr std::size_t round_size = 4;

/// Those that are bounded and have a parallelism that may fit, most promising first.
std::vector<Kin> in_order_of_promise(std::vector<Kin> all) {
  std::erase_if(all, [](const Kin& kin) { return !std::isfinite(least_seconds(kin)); });
  std::sort(all.begin(), all.end(), [](const Kin& a, const Kin& b) {
    return std::tuple(least_seconds(a), a.front().front().index()) < std::tuple(least_seconds(b), b.front().front().index());
  });
  return all;
}

/// The next ones, from `next` on, that what is certain lets matter.
std::vector<const Kin*> next_round(const std::vector<Kin>& order, std::size_t& next, const Incumbents& incumbents) {
  std::vector<const Kin*> round;
  for (; next < order.size() && round.size() < round_size; ++next)
    if (admit(incumbents, order[next])) round.push_back(&order[next]);
  return round;
}

/// How many parallelisms the budget left.
std::size_t expand_in_rounds(const std::vector<Kin>& order, Incumbents& incumbents, const SearchSpace& space,
                             const Evaluator& evaluate, const SearchBudget& budget) {
  for (std::size_t next = 0; next < order.size();) {
    if (budget.is_spent()) return count_parallelisms(std::span(order).subspan(next));
    budget.progress(static_cast<std::int64_t>(next), static_cast<std::int64_t>(order.size()), true);
    const auto round = next_round(order, next, incumbents);
    parallel_for(round.size(), [&](std::size_t i) { expand(*round[i], incumbents, space, evaluate); });
    for (const Kin* kin : round)
      for (const Family family : *kin)
        for (const Exploration& expanded : family) incumbents.add(expanded);
  }
  return 0;
}

/// Looks at the memory of kin until some may fit, which is soon as a rule, or never: then there is nothing to bound.
bool probe_memory_until_some_fit(const std::vector<Kin>& all, const SearchSpace& space, const Evaluator& evaluate,
                                 const SearchBudget& budget) {
  for (std::size_t next = 0; next < all.size() && !budget.is_spent(); next += round_size) {
    const auto round = std::span(all).subspan(next, std::min(round_size, all.size() - next));
    parallel_for(round.size(), [&](std::size_t i) {
      Runner runner(space, round[i].front().front().parallelism(), evaluate, links_of(round[i]));
      for (const Family family : round[i]) probe_memory(family, runner);
    });
    if (std::any_of(round.begin(), round.end(), [](const Kin& kin) { return may_fit(kin); })) return true;
  }
  return false;
}

/// The least that is known to be needed; empty: of none is.
std::optional<Bytes> smallest_peak(std::span<const Exploration> explorations) {
  std::optional<Bytes> least;
  for (const Exploration& exploration : explorations)
    if (const auto smallest = exploration.smallest())
      if (!least || Bytes{smallest->cost.peak} < *least) least = Bytes{smallest->cost.peak};
  return least;
}

std::optional<Bytes> smaller_of(std::optional<Bytes> a, std::optional<Bytes> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// Where nothing fits: looks at those whose weights alone are too large until no other can need less.
void look_for_smallest(std::vector<Kin> all, const std::vector<Exploration>& explorations, const SearchSpace& space,
                       const Evaluator& evaluate, const SearchBudget& budget) {
  std::stable_sort(all.begin(), all.end(), [](const Kin& a, const Kin& b) { return least_memory(a) < least_memory(b); });
  std::optional<Bytes> smallest = smallest_peak(explorations);
  for (std::size_t next = 0; next < all.size() && !budget.is_spent(); next += round_size) {
    if (smallest && least_memory(all[next]) >= *smallest) return;
    const auto round = std::span(all).subspan(next, std::min(round_size, all.size() - next));
    parallel_for(round.size(), [&](std::size_t i) {
      Runner runner(space, round[i].front().front().parallelism(), evaluate, links_of(round[i]));
      look_at_smallest(round[i], runner);
    });
    for (const Kin& kin : round)
      for (const Family family : kin) smallest = smaller_of(smallest, smallest_peak(family));
  }
}

/// What none of their candidates is faster than, whether they fit or not; how many the budget left.
std::size_t bound(const std::vector<Kin>& all, std::size_t families, const SearchSpace& space, const Evaluator& evaluate,
                  const SearchBudget& budget) {
  const auto end = budget.half_time();  // the promising ones have to be costed, too
  std::atomic<std::size_t> done = 0, left = 0;
  parallel_for(all.size(), [&](std::size_t i) {
    Runner runner(space, all[i].front().front().parallelism(), evaluate);
    for (const Family family : all[i]) {
      if (budget.is_spent(end)) {
        left += family.size();
        continue;
      }
      bound_seconds(family, runner);
      budget.progress(static_cast<std::int64_t>(++done), static_cast<std::int64_t>(families), false);
    }
  });
  return left;
}

/// Of each rule set the most promising family, until what is known of it is all that can be: its bound is the rule set's.
void tighten_bounds_of_rule_sets(const std::vector<Family>& families, const SearchSpace& space, const Evaluator& evaluate,
                                 const SearchBudget& budget) {
  std::vector<std::vector<Family>> by_rules(space.rule_sets.size());
  for (const Family family : families) by_rules[family.front().parallelism().rules].push_back(family);
  parallel_for(by_rules.size(), [&](std::size_t rules) {
    const auto& some = by_rules[rules];
    for (bool tightens = !some.empty(); tightens && !budget.is_spent();) {
      const Family first = *std::min_element(some.begin(), some.end(), [](Family a, Family b) {
        return least_seconds_between(a) < least_seconds_between(b);
      });
      Runner runner(space, first.front().parallelism(), evaluate);
      tightens = tighten(first, runner);
    }
  });
}

std::vector<Candidate> fitting_of(const std::vector<Exploration>& explorations) {
  std::vector<Candidate> all;
  for (const auto& exploration : explorations) {
    const auto fitting = exploration.fitting();
    all.insert(all.end(), fitting.begin(), fitting.end());
  }
  return all;
}

Front front_of(const std::vector<Candidate>& candidates, const Scope& scope) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& candidate : candidates) fastest = std::min(fastest, candidate.cost.seconds_per_token);
  Front front;
  for (const auto& candidate : candidates)
    if (candidate.cost.seconds_per_token <= fastest * (1 + scope.front_margin)) front.add(candidate);
  return front;
}

Explored collect(const std::vector<Exploration>& explorations, const Scope& scope) {
  Explored explored;
  explored.fitting = fitting_of(explorations);
  for (const auto& exploration : explorations) {
    const double least = exploration.least_seconds_between();
    explored.least_seconds.push_back(exploration.may_fit() && std::isfinite(least) ? std::optional(least) : std::nullopt);
    for (const Candidate& candidate : exploration.marginal())
      if (!explored.marginal || candidate.cost.seconds_per_token < explored.marginal->cost.seconds_per_token)
        explored.marginal = candidate;
    explored.has_marginal = explored.has_marginal || exploration.has_marginal();
    const auto smallest = exploration.smallest();
    if (smallest && (!explored.smallest || smallest->cost.peak < explored.smallest->cost.peak))
      explored.smallest = smallest;
    explored.rejections.add(exploration.rejections());
    explored.evaluated += exploration.evaluated();
    explored.known_to_fit += exploration.known_to_fit();
  }
  const bool lacks_time =
      std::any_of(explorations.begin(), explorations.end(), [](const Exploration& e) { return e.has_too_slow(); });
  if (!explored.fitting.empty() || lacks_time) explored.smallest.reset();
  explored.front = front_of(explored.fitting, scope);
  return explored;
}

/// An exploration of each parallelism, of which nothing is known yet; they refer to the orders.
struct Explorations {
  Explorations(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope)
      : plain(remat_order(space, policies_with(space, 1))), pipelined(remat_order(space, policies_with(space, 2))) {
    list.reserve(parallelisms.size());
    for (std::size_t i = 0; i < parallelisms.size(); ++i)
      list.emplace_back(space, parallelisms[i], i, pipeline_stages(parallelisms[i].mesh) > 1 ? pipelined : plain,
                        scope);
    families = families_of(list);
  }
  Explorations(const Explorations&) = delete;
  Explorations& operator=(const Explorations&) = delete;

  const RematOrder plain, pipelined;
  std::vector<Exploration> list;
  std::vector<Family> families;
};

/// First what every answer has, then the front, of what is known by then: what the former makes costed is the same with and
/// without the latter.
struct Expanded {
  std::vector<Candidate> contenders;
  std::size_t left = 0;  ///< parallelisms that the budget left
};

Expanded expand_for_front_last(const std::vector<Kin>& order, const Explorations& all,
                               const std::vector<Parallelism>& parallelisms, const Scope& scope, const SearchSpace& space,
                               const Evaluator& evaluate, const SearchBudget& budget) {
  Scope without_front = scope;
  without_front.front_margin = 0;
  Incumbents incumbents(parallelisms, without_front);
  Expanded expanded{{}, expand_in_rounds(order, incumbents, space, evaluate, budget)};
  expanded.contenders = fitting_of(all.list);
  if (scope.front_margin == 0 || expanded.left > 0) return expanded;
  Incumbents with_front(parallelisms, scope);
  for (const Exploration& exploration : all.list) with_front.add(exploration);
  expanded.left = expand_in_rounds(order, with_front, space, evaluate, budget);
  return expanded;
}

}  // namespace

Explored explore(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                 const Evaluator& evaluate, const SearchBudget& budget) {
  Explorations all(space, parallelisms, scope);
  const std::vector<Kin> kin = kin_of(all.families, space.base.compiler);
  std::vector<Kin> open = kin;
  std::erase_if(open, [](const Kin& some) { return !may_fit(some); });
  std::size_t left = 0;
  Expanded expanded;
  if (probe_memory_until_some_fit(open, space, evaluate, budget)) {
    left = bound(open, all.families.size(), space, evaluate, budget);
    const auto order = in_order_of_promise(std::move(open));
    expanded = expand_for_front_last(order, all, parallelisms, scope, space, evaluate, budget);
    left += expanded.left;
    if (scope.bounds_of_rule_sets) tighten_bounds_of_rule_sets(all.families, space, evaluate, budget);
  } else {
    left = static_cast<std::size_t>(std::count_if(all.list.begin(), all.list.end(), std::mem_fn(&Exploration::may_fit)));
    look_for_smallest(kin, all.list, space, evaluate, budget);
  }
  Explored explored = collect(all.list, scope);
  explored.contenders = std::move(expanded.contenders);
  explored.left = static_cast<std::int64_t>(left);
  return explored;
}

Explored explore_what_may_fit(SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                              const Evaluator& evaluate, const SearchBudget& budget) {
  Explored sure = explore(space, parallelisms, scope, evaluate, budget);
  if (!sure.fitting.empty() || !sure.has_marginal) return sure;
  space.required.certainty = Certainty::expected;
  Explored expected = explore(space, parallelisms, scope, evaluate, budget);
  expected.evaluated += sure.evaluated;
  expected.left = std::max(expected.left, sure.left);
  return expected;
}

Fits any_fits(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Evaluator& evaluate,
              const SearchBudget& budget) {
  Explorations all(space, parallelisms, Scope{});
  std::vector<Kin> open = kin_of(all.families, space.base.compiler);
  std::erase_if(open, [](const Kin& some) { return !may_fit(some); });
  Fits fits;
  for (std::size_t next = 0; next < open.size() && !fits.any && !budget.is_spent(); next += round_size) {
    const auto round = std::span(open).subspan(next, std::min(round_size, open.size() - next));
    std::array<bool, round_size> found{};
    parallel_for(round.size(), [&](std::size_t i) {
      Runner runner(space, round[i].front().front().parallelism(), evaluate, links_of(round[i]));
      found[i] = std::any_of(round[i].begin(), round[i].end(), [&](Family family) { return fits_at_all(family, runner); });
    });
    fits.any = std::any_of(found.begin(), found.end(), [](bool it) { return it; });
  }
  for (const Exploration& exploration : all.list) fits.evaluated += exploration.evaluated();
  fits.smallest = smallest_peak(all.list);
  return fits;
}

}  // namespace shardplan
