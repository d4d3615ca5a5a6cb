#pragma once
// One plan against the recommended one: how much slower a token is, where it loses most, what its pipeline does.
#include <shardplan/plan.hpp>
#include <planner/search/strategies.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// Tokens of one step of the whole job.
double tokens_of(const Evaluation& evaluation);

/// Slower by less than this no report shows.
inline constexpr double visible_slowdown = 0.0005;

/// Of the whole job, with the routing of all tokens.
double seconds_per_token(const Evaluation& e);

/// The share by which a token takes longer: 0.11 for 11%.
double slower_than(const Evaluation& best, const Evaluation& other);

/// Whether its step is longer by gradients of experts' biases, whose time isn't known on its machine (the finding
/// bias-gradients-unpriced): what its figures are at most.
bool lacks_bias_gradients(const Evaluation& e);

/// What a million tokens cost on a machine with a price.
std::optional<double> dollars_per_million_tokens(const Evaluation& e, const HardwareProfile& profile);

/// Throws InputError where the request ranks by what the machine has not: a price.
void require_price(const PlanRequest& request, const HardwareProfile& profile);

/// The part of the step in which a token loses most: "9.4% of a step in the pipeline's bubble" (of the best one's
/// step).
std::string biggest_loss(const Evaluation& best, const Evaluation& other);

/// "4 repeats of 5 layers a stage, 8 microbatches"; empty without a pipeline.
std::string schedule_of(const Evaluation& evaluation);

/// The best plan of each strategy as rows, fastest first; the recommended one is among them.
std::vector<StrategyPlan> compare_strategies(const Evaluation& best,
                                             std::vector<std::pair<Strategy, Evaluation>> plans);

}  // namespace shardplan
