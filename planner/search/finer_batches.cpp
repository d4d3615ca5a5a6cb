#include <algorithm>
#include <cmath>
#include <iterator>
#include <planner/search/explore/incumbents.hpp>
#include <planner/search/explore/runner.hpp>
#include <planner/search/finer_batches.hpp>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/strategies.hpp>
#include <set>
#include <utility>

namespace shardplan {
namespace {

constexpr std::size_t runs_worth_trying = 32;  ///< of all, and of each strategy
constexpr std::int64_t parts = 8;  ///< of a batch, that a finer one is larger by
constexpr double worth_an_odd_batch = 0.05;  ///< and the room in memory that it takes

using RunId = std::pair<std::size_t, std::size_t>;  ///< a parallelism and a policy

/// The fastest of each parallelism and policy, fastest first.
std::vector<Candidate> fastest_first(std::vector<Candidate> contenders) {
  std::stable_sort(contenders.begin(), contenders.end(), [](const Candidate& a, const Candidate& b) {
    return a.cost.seconds_per_token < b.cost.seconds_per_token;
  });
  std::set<RunId> seen;
  std::erase_if(contenders, [&](const Candidate& c) { return !seen.insert({c.parallelism, c.remat}).second; });
  return contenders;
}

/// Of a device, in all passes of a step.
double sequences_in(const BatchOption& batch) {
  return batch.per_device_batch_size * static_cast<double>(batch.gradient_accumulation_steps);
}

/// As fast with the same batch, policy and memory: what a finer batch makes of one it makes of the other.
bool is_like(const Candidate& a, const Candidate& b, const std::vector<Parallelism>& parallelisms) {
  const auto near = [](double one, double other, double share) { return std::abs(one - other) <= share * other; };
  const auto batch_of = [&](const Candidate& c) { return parallelisms[c.parallelism].batches[c.batch]; };
  return a.remat == b.remat && sequences_in(batch_of(a)) == sequences_in(batch_of(b)) &&
         near(a.cost.seconds_per_token, b.cost.seconds_per_token, indistinguishable) &&
         near(static_cast<double>(a.cost.peak), static_cast<double>(b.cost.peak), 0.01);
}

/// Other names of one layout (rule sets, axes that do each other's work) would leave no room for others.
std::vector<Candidate> unlike_ones(const std::vector<Candidate>& all, const std::vector<Parallelism>& parallelisms) {
  std::vector<Candidate> unlike;
  for (const Candidate& run : all) {
    const auto same = [&](const Candidate& known) { return is_like(run, known, parallelisms); };
    if (std::none_of(unlike.begin(), unlike.end(), same)) unlike.push_back(run);
    if (unlike.size() == runs_worth_trying) break;
  }
  return unlike;
}

/// The first ones of all, and of each strategy where its best is asked for.
std::vector<Candidate> worth_trying(const Explored& explored, const std::vector<Parallelism>& parallelisms,
                                    const Scope& scope) {
  const std::vector<Candidate> all = fastest_first(explored.contenders);
  std::vector<Candidate> runs = unlike_ones(all, parallelisms);
  std::set<RunId> taken;
  for (const Candidate& run : runs) taken.insert({run.parallelism, run.remat});
  if (!scope.best_of_strategies) return runs;
  for (const Strategy strategy : strategies) {
    std::vector<Candidate> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const Candidate& run) { return uses(parallelisms[run.parallelism], strategy); });
    for (const Candidate& run : unlike_ones(own, parallelisms))
      if (taken.insert({run.parallelism, run.remat}).second) runs.push_back(run);
  }
  return runs;
}

/// A batch as a number of the smallest one.
std::int64_t units_of(const Parallelism& parallelism, std::size_t batch) {
  const auto& batches = parallelism.batches;
  return std::llround(batches[batch].per_device_batch_size / batches.front().per_device_batch_size);
}

/// The next larger one that is searched, or would be if a step could have so many tokens.
std::int64_t next_of(const Parallelism& parallelism, std::size_t batch) {
  const std::int64_t units = units_of(parallelism, batch);
  const bool is_last = batch + 1 >= parallelism.batches.size() || units_of(parallelism, batch + 1) <= units;
  return is_last ? next_units(units) : units_of(parallelism, batch + 1);
}

struct Finer {
  BatchOption batch;
  Cost cost;
};

/// Memory grows with the batch: the first that doesn't fit ends it.
std::optional<Finer> largest_finer(const Candidate& run, const Parallelism& parallelism, const SearchSpace& space,
                                   Runner& runner, Explored& explored) {
  const std::int64_t units = units_of(parallelism, run.batch), next = next_of(parallelism, run.batch);
  const std::int64_t tokens = space.base.config.max_target_length * parallelism.batches.front().gradient_accumulation_steps;
  const std::int64_t step = std::max<std::int64_t>(units / parts, 1), devices = parallelism.mesh.devices();
  const std::int64_t smallest =
      std::llround(parallelism.batches.front().per_device_batch_size * static_cast<double>(devices));  // sequences
  std::optional<Finer> best;
  for (std::int64_t more = units + step; more < next; more += step) {
    const auto per_device = per_device_batch(more * smallest, devices);
    if (more * smallest * tokens > space.max_batch_tokens) break;
    if (!per_device) continue;
    const BatchOption batch{*per_device, parallelism.batches.front().gradient_accumulation_steps};
    const Cost cost = cost_of(runner.run(parallelism, run.remat, batch), space.required);
    ++explored.evaluated;
    if (!cost.fits) break;
    ++explored.known_to_fit;
    const double bar = best ? best->cost.seconds_per_token : run.cost.seconds_per_token / (1 + worth_an_odd_batch);
    if (cost.seconds_per_token < bar) best = Finer{batch, cost};
  }
  return best;
}

}  // namespace

void try_finer_batches(const SearchSpace& space, std::vector<Parallelism>& parallelisms, Explored& explored,
                       const Scope& scope, const Evaluator& evaluate, const SearchBudget& budget) {
  if (space.per_device_batch || space.global_batch_tokens) return;
  for (const Candidate& run : worth_trying(explored, parallelisms, scope)) {
    if (budget.is_spent()) return;
    Parallelism& parallelism = parallelisms[run.parallelism];
    Runner runner(space, parallelism, evaluate);
    const auto finer = largest_finer(run, parallelism, space, runner, explored);
    if (!finer) continue;
    parallelism.batches.push_back(finer->batch);
    const Candidate found{run.parallelism, run.remat, parallelism.batches.size() - 1, finer->cost};
    explored.fitting.push_back(found);
    explored.front.add(found);
  }
}

}  // namespace shardplan
