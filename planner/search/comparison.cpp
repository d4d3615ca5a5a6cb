#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <shardplan/collective/counted.hpp>
#include <shardplan/configuration.hpp>
#include <planner/search/comparison.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct Part {
  const char* name;
  double loss;  ///< seconds a token that the other loses here
};

/// "3.2% of a step"; from a whole step on a percentage says little: "16.8 steps".
std::string steps_in_words(double share) {
  return share < 1 ? fmt::format("{:.1f}% of a step", 100 * share) : fmt::format("{:.1f} steps", share);
}

/// "4 repeats of 5 layers a stage, 8 microbatches: bubble 8.4%, permutes 1.6% if none hid" of its own step.
std::string pipeline_of(const Evaluation& e) {
  if (pipeline_stages(e.mesh) == 1) return "";
  Seconds permutes;
  for (const auto& collective : e.collectives)
    if (collective.kind == CollectiveKind::collective_permute) permutes += collective.seconds;
  const double percent = e.time.with_routing().value / 100;
  return fmt::format("{}: bubble {:.1f}%, permutes {:.1f}% if none hid", schedule_of(e), e.time.bubble.value / percent,
                     permutes.value / percent);
}

}  // namespace

double tokens_of(const Evaluation& e) {
  return e.tokens_per_second() * e.time.step().value;
}

bool lacks_bias_gradients(const Evaluation& e) {
  return std::any_of(e.findings.begin(), e.findings.end(),
                     [](const Finding& finding) { return finding.id == FindingId::bias_gradients_unpriced; });
}

std::optional<double> dollars_per_million_tokens(const Evaluation& e, const HardwareProfile& profile) {
  if (!profile.price_per_chip_hour) return std::nullopt;
  const double dollars_a_second = profile.price_per_chip_hour->value * e.chips / 3600;
  return dollars_a_second / e.tokens_per_second_with_routing() * 1e6;
}

void require_price(const PlanRequest& request, const HardwareProfile& profile) {
  if (request.objective == Objective::cost && !profile.price_per_chip_hour)
    throw InputError(fmt::format("no price to rank by: give --price {}=DOLLARS_PER_CHIP_HOUR", profile.name));
}

double seconds_per_token(const Evaluation& e) { return e.time.with_routing().value / tokens_of(e); }

double slower_than(const Evaluation& best, const Evaluation& other) {
  return seconds_per_token(other) / seconds_per_token(best) - 1;
}

std::string biggest_loss(const Evaluation& best, const Evaluation& other) {
  const auto loss = [&](Seconds mine, Seconds theirs) {
    return theirs.value / tokens_of(other) - mine.value / tokens_of(best);
  };
  const std::array<Part, 5> parts = {
      Part{"compute", loss(best.time.compute, other.time.compute)},
      Part{"exposed communication", loss(best.time.exposed_collective, other.time.exposed_collective)},
      Part{"exposed host copies", loss(best.time.exposed_host, other.time.exposed_host)},
      Part{"the pipeline's bubble", loss(best.time.bubble, other.time.bubble)},
      Part{"the routing of all tokens", loss(best.time.all_token_routing, other.time.all_token_routing)}};
  const Part& most =
      *std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.loss < b.loss; });
  return fmt::format("{} in {}", steps_in_words(most.loss / seconds_per_token(best)), most.name);
}

std::string schedule_of(const Evaluation& e) {
  if (pipeline_stages(e.mesh) == 1) return "";
  const TrainConfig& c = e.config;
  const std::string repeats = c.num_pipeline_repeats == 1 ? "" : counted(c.num_pipeline_repeats, "repeat") + " of ";
  return fmt::format("{}{} a stage, {}{}", repeats, counted(c.num_layers_per_pipeline_stage, "layer"),
                     counted(c.num_pipeline_microbatches, "microbatch"),
                     c.pipeline_fsdp_ag_once ? ", weights gathered once" : "");
}

std::vector<StrategyPlan> compare_strategies(const Evaluation& best,
                                             std::vector<std::pair<Strategy, Evaluation>> plans) {
  std::vector<StrategyPlan> rows;
  for (auto& [strategy, plan] : plans) {
    const double slower = slower_than(best, plan);
    std::string why = slower < visible_slowdown ? "" : biggest_loss(best, plan);
    std::string pipeline = pipeline_of(plan);
    rows.push_back({strategy, slower, std::move(why), std::move(pipeline), std::move(plan)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StrategyPlan& a, const StrategyPlan& b) { return a.slower < b.slower; });
  return rows;
}

}  // namespace shardplan
