#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cost_models/memory/state/least_memory.hpp>
#include <hardware/machine_of_chips.hpp>
#include <models/programs/train_program.hpp>
#include <planner/search/explore/explore.hpp>
#include <planner/search/space/parallelism.hpp>
#include <planner/search/space/remat_order.hpp>
#include <planner/search/plan_machine.hpp>
#include <planner/search/present.hpp>
#include <planner/search/would_fit.hpp>
#include <planner/what_if/narrower_states.hpp>
#include <set>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr int most_chips = 4096;
constexpr std::int64_t shortest_sequence = 1024;
constexpr std::int64_t usual_most_accumulation = 16;

struct Change {
  std::string words;
  PlanRequest request;
};

std::vector<Change> narrower_state(const PlanRequest& request) {
  std::vector<Change> changes;
  for (const NarrowerState& state : narrower_states()) {
    if (request.settings.says(state.field)) continue;
    changes.push_back({std::string(state.remedy), request});
    state.set(changes.back().request.settings);
  }
  return changes;
}

/// MaxText's check of weights that miss an axis is off: rule sets that keep some whole on purpose (ep-as-dp) are run so.
std::vector<Change> unchecked_weights(const PlanRequest& request) {
  if (request.settings.says(&TrainConfig::sharding_tolerance)) return {};
  Change change{"sharding_tolerance=1", request};
  change.request.settings.set(&TrainConfig::sharding_tolerance, 1.0);
  return {std::move(change)};
}

/// Where the request leaves the policy open.
std::vector<Change> offloaded_inputs(const PlanRequest& request, const HardwareProfile& profile) {
  if (request.remat_policies.size() < 2 || !profile.host_link_bandwidth) return {};
  Change change{"the layers' inputs in host memory (remat_policy=custom decoder_layer_input=offload)", request};
  change.request.remat_policies = {offloaded_layer_inputs()};
  return {std::move(change)};
}

/// The same tokens a step in smaller forward passes. A batch that is searched starts at the smallest anyway.
std::vector<Change> more_accumulation(const PlanRequest& request) {
  std::vector<Change> changes;
  if (!request.per_device_batch || request.settings.says(&TrainConfig::gradient_accumulation_steps)) return changes;
  const auto whole = static_cast<std::int64_t>(*request.per_device_batch);  // down to one sequence a pass
  for (std::int64_t steps = 2; steps <= std::max(usual_most_accumulation, whole); steps *= 2) {
    const double batch = *request.per_device_batch / static_cast<double>(steps);
    changes.push_back({fmt::format("--per-device-batch {} gradient_accumulation_steps={}", batch, steps), request});
    changes.back().request.per_device_batch = batch;
    changes.back().request.settings.set(&TrainConfig::gradient_accumulation_steps, steps);
  }
  return changes;
}

Change with_batch(const PlanRequest& request, std::int64_t batch) {
  Change change{fmt::format("--per-device-batch {}", batch), request};
  change.request.per_device_batch = static_cast<double>(batch);
  return change;
}

Change with_tokens(const PlanRequest& request, std::int64_t tokens) {
  Change change{fmt::format("--global-batch-tokens {}", tokens), request};
  change.request.global_batch_tokens = tokens;
  return change;
}

std::vector<Change> shorter_sequences(const PlanRequest& request, std::int64_t length) {
  std::vector<Change> changes;
  if (request.settings.says(&TrainConfig::max_target_length)) return changes;
  for (length /= 2; length >= shortest_sequence; length /= 2) {
    changes.push_back({fmt::format("--seq-len {}", length), request});
    changes.back().request.settings.config.max_target_length = length;
  }
  return changes;
}

/// Parameters, optimizer and gradients can't be split further than over every device.
Bytes state_share(const PlanRequest& request, const HardwareProfile& profile) {
  const TrainConfig& config = request.settings.config;
  const Bytes state = least_memory(reference_program(request.model, config.max_target_length), config);
  return {state.value / (std::int64_t{request.chips} * profile.devices_per_chip)};
}

bool may_hold_state(const PlanRequest& request, const HardwareProfile& profile) {
  return state_share(request, profile) <= memory_capacity(profile, request.memory_limits);
}

std::set<int> sizes_of(const PlanRequest& request, const HardwareProfile& profile) {
  std::set<int> sizes;
  for (const Slice& slice : profile.slices) sizes.insert(slice.chips * request.slices.value_or(1));
  if (!ends_at_node(profile.fabric))  // beyond the largest slice: several of them
    for (int chips = profile.slices.back().chips * 2; chips <= most_chips; chips *= 2) sizes.insert(chips);
  if (ends_at_node(profile.fabric))
    for (int chips = profile.chips_per_node * 2; chips <= most_chips; chips *= 2) sizes.insert(chips);
  if (ends_at_node(profile.fabric)) sizes.insert(profile.chips_per_node);
  std::erase_if(sizes, [&](int chips) { return chips > most_chips; });
  return sizes;
}

/// Chips that no size of the machine has may lack a mesh: the next smaller size, if there is one.
std::vector<Change> smaller_machine(const PlanRequest& request, const HardwareProfile& profile) {
  const std::set<int> all = sizes_of(request, profile);
  const auto next = all.lower_bound(request.chips);
  if (next == all.begin() || (next != all.end() && *next == request.chips)) return {};
  Change change{fmt::format("--chips {}", *std::prev(next)), request};
  change.request.chips = *std::prev(next);
  return {std::move(change)};
}

std::vector<Change> larger_machines(const PlanRequest& request, const HardwareProfile& profile) {
  std::vector<Change> changes;
  for (const int chips : sizes_of(request, profile)) {
    if (chips <= request.chips) continue;
    changes.push_back({fmt::format("--chips {}", chips), request});
    changes.back().request.chips = chips;
  }
  return changes;
}

/// With the policies alone of which one needs least memory in so many stages.
SearchSpace of_smallest_policies(SearchSpace space, int stages) {
  std::vector<RematPolicy> smallest;
  for (const std::size_t policy : remat_order(space, policies_with(space, stages)).smallest)
    smallest.push_back(space.remat_policies[policy]);
  space.remat_policies = std::move(smallest);
  return space;
}

/// Tries changes, and counts what that takes. Nothing more is found once the search's limits are reached.
class Trials {
 public:
  Trials(const HardwareProfile& profile, const Evaluator& evaluate, const SearchBudget& budget)
      : profile_(profile), evaluate_(evaluate), budget_(budget) {}

  std::optional<WouldFit> first_that_fits(const std::vector<Change>& changes) {
    for (const Change& change : changes)
      if (auto found = fit_of(change)) return found;
    return std::nullopt;
  }

  /// The smallest of more and more chips. A batch a device that is fixed leaves each as many tokens, however many there are:
  /// where what they need beside the state alone is too much, and twice the chips need no less of it, no more will do.
  std::optional<WouldFit> first_size_that_fits(const std::vector<Change>& sizes) {
    struct Needed {
      int chips;
      Bytes beside_state;
    };
    std::optional<Needed> before;
    for (const Change& change : sizes) {
      smallest_.reset();
      if (auto found = fit_of(change)) return found;
      const int chips = change.request.chips;
      if (!smallest_ || !change.request.per_device_batch || (before && chips < 2 * before->chips)) continue;
      const Bytes beside = *smallest_ - state_share(change.request, profile_);
      const bool too_much = beside > memory_capacity(profile_, change.request.memory_limits);
      const bool needs_less = !before || beside < before->beside_state - Bytes{before->beside_state.value / 100};
      if (too_much && !needs_less) return std::nullopt;
      before = Needed{chips, beside};
    }
    return std::nullopt;
  }

  /// The largest whole number of sequences a device below the batch that is asked for. What fits with so many fits with
  /// fewer, so halves are tried for a place to begin, then what is between.
  std::optional<WouldFit> largest_batch(const PlanRequest& request) {
    if (!request.per_device_batch) return std::nullopt;
    auto too_large = static_cast<std::int64_t>(std::ceil(*request.per_device_batch));
    std::optional<WouldFit> best;
    std::int64_t fits = 0;
    while (too_large - fits > 1) {
      const std::int64_t batch = best ? (fits + too_large) / 2 : too_large / 2;
      auto found = fit_of(with_batch(request, batch));
      (found ? fits : too_large) = batch;
      if (found) best = std::move(found);
    }
    return best;
  }

  std::int64_t evaluated() const { return evaluated_; }

 private:
  /// The plan that a change would give, where it is asked for; empty: nothing fits.
  std::optional<WouldFit> fit_in(const SearchSpace& space, const Change& change) {
    const auto [parallelisms, rejections, meshes, refused] = enumerate_parallelisms(space);
    if (change.request.beside != Beside::front) {
      const Fits fits = any_fits(space, parallelisms, evaluate_, budget_);
      evaluated_ += fits.evaluated;
      note_smallest(fits.smallest);
      return fits.any ? std::optional(WouldFit{change.words, std::nullopt}) : std::nullopt;
    }
    const Explored explored = explore(space, parallelisms, Scope{}, evaluate_, budget_);
    evaluated_ += explored.evaluated;
    if (explored.smallest) note_smallest(Bytes{explored.smallest->cost.peak});
    if (explored.fitting.empty()) return std::nullopt;
    return WouldFit{change.words, Presenter(space, parallelisms, evaluate_).show(explored.front.candidates().front())};
  }

  /// Pipelines only where nothing fits without one.
  std::optional<WouldFit> fit_of(const Change& change) try {
    const PlanRequest& request = change.request;
    if (budget_.is_spent() || !may_hold_state(request, profile_)) return std::nullopt;
    const SearchSpace space = search_space(request, machine_of(profile_, request.chips, request.slices));
    if (auto plain = fit_in(of_smallest_policies(without_pipelines(space), 1), change)) return plain;
    return fit_in(of_smallest_policies(with_pipelines_only(space), 2), change);
  } catch (const InputError&) {
    return std::nullopt;  // --mesh or --slices don't suit the larger machine
  }

  void note_smallest(std::optional<Bytes> peak) {
    if (peak && (!smallest_ || *peak < *smallest_)) smallest_ = peak;
  }

  const HardwareProfile& profile_;
  const Evaluator& evaluate_;
  const SearchBudget& budget_;
  std::int64_t evaluated_ = 0;
  std::optional<Bytes> smallest_;  ///< peak that the last changes were met with
};

}  // namespace

WouldFits what_would_fit(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& closest,
                         const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget) {
  std::vector<std::vector<Change>> tries;  // of each list the mildest change that helps
  if (!request.mesh.empty() && rejections.has(ConstraintId::weights_not_sharded))  // of all meshes others split them
    tries.push_back(unchecked_weights(request));
  for (Change& change : narrower_state(request)) tries.push_back({std::move(change)});
  tries.push_back(offloaded_inputs(request, profile));
  tries.push_back(more_accumulation(request));
  tries.push_back(shorter_sequences(request, closest.config.max_target_length));
  tries.push_back(smaller_machine(request, profile));
  Trials trials(profile, evaluate, budget);
  WouldFits answer;
  const std::size_t most = request.beside == Beside::front ? tries.size() + 2 : changes_in_a_line;
  const auto keep = [&](std::optional<WouldFit> fits) {
    if (fits) answer.found.push_back(*std::move(fits));
  };
  for (const auto& changes : tries)
    if (answer.found.size() < most) keep(trials.first_that_fits(changes));
  if (answer.found.size() < most) keep(trials.first_size_that_fits(larger_machines(request, profile)));
  if (answer.found.size() < most) keep(trials.largest_batch(request));
  answer.evaluated = trials.evaluated();
  return answer;
}

WouldFits what_step_would_fit(const PlanRequest& request, const HardwareProfile& profile, Seconds least,
                              const Evaluator& evaluate, const SearchBudget& budget) {
  const double digit = std::pow(10.0, std::floor(std::log10(least.value)) - 2);
  PlanRequest longer = request;
  longer.max_step = Seconds{std::ceil(least.value / digit) * digit};
  longer.beside = Beside::nothing;
  MachinePlan plan = plan_machine(longer, profile, evaluate, budget);
  WouldFits answer{{}, plan.evaluated};
  const bool shown = request.beside == Beside::front;
  if (plan.recommended)
    answer.found.push_back({fmt::format("--max-step-seconds {:g}", longer.max_step->value),
                            shown ? std::move(plan.recommended) : std::nullopt});
  return answer;
}

WouldFits what_batch_would_fit(const PlanRequest& request, const HardwareProfile& profile, std::int64_t devices,
                               std::int64_t length, const Evaluator& evaluate, const SearchBudget& budget) {
  const bool fixed = request.settings.says(&TrainConfig::gradient_accumulation_steps);
  const std::int64_t passes = fixed ? request.settings.config.gradient_accumulation_steps : 1;
  const std::int64_t tokens = request.global_batch_tokens.value_or(0), shared = devices * length * passes;
  if (tokens % shared == 0) return {};
  Trials trials(profile, evaluate, budget);
  WouldFits answer;
  for (const std::int64_t nearest : {tokens / shared * shared, (tokens / shared + 1) * shared})
    if (nearest > 0)
      if (auto fits = trials.first_that_fits({with_tokens(request, nearest)})) answer.found.push_back(*std::move(fits));
  answer.evaluated = trials.evaluated();
  return answer;
}

}  // namespace shardplan
