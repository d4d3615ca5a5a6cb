#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <planner/search/reasons.hpp>

namespace shardplan {
namespace {

double gib(Bytes bytes) { return static_cast<double>(bytes.value) / (1024.0 * 1024 * 1024); }

std::string in_units(Seconds time) {
  return time.value < 1 ? fmt::format("{:.3g} ms", time.value * 1e3) : fmt::format("{:.3g} s", time.value);
}

/// All collectives of one kind over the same axes: "all-gathers over fsdp".
using Traffic = std::map<std::string, Seconds>;

Traffic traffic_of(const Evaluation& e) {
  Traffic traffic;
  for (const auto& collective : e.collectives) {
    std::vector<std::string> axes;
    for (const AxisId axis : collective.axes) axes.push_back(e.mesh.axes[axis].name);
    traffic[fmt::format("{} over {}", name_of(collective.kind), fmt::join(axes, "·"))] += collective.seconds;
  }
  return traffic;
}

std::string most_expensive(const Evaluation& e) {
  const Traffic traffic = traffic_of(e);
  if (traffic.empty()) return "";
  const auto most = std::max_element(traffic.begin(), traffic.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("; the most expensive is {} ({})", most->first, in_units(most->second));
}

std::string where_time_goes(const Evaluation& e) {
  const StepTime& time = e.time;
  const double whole = time.step().value / 100;
  const std::string bubble =
      time.bubble.value > 0 ? fmt::format(", the pipeline's bubble {:.0f}%", time.bubble.value / whole) : "";
  return fmt::format(
      "a step of {} is {:.0f}% compute and {:.0f}% exposed communication{}; {} of communication hides "
      "behind compute{}",
      in_units(time.step()), time.compute.value / whole, time.exposed_collective.value / whole, bubble,
      in_units(time.hidden_collective), most_expensive(e));
}

/// Predicted peaks are within this share of the compiler's on the recorded programs (shardplan validate).
constexpr double peak_uncertainty = 0.065;

std::string memory_at_peak(const Evaluation& e) {
  const double free = 1 - gib(e.memory.peak()) / gib(e.memory.capacity);
  const std::string tight = free < peak_uncertainty
                                ? fmt::format(
                                      "; only {:.1f}% is free and predictions are good to {:.1f}%: keep a smaller "
                                      "batch or a leaner remat_policy at hand",
                                      100 * free, 100 * peak_uncertainty)
                                : "";
  return fmt::format("memory peaks at {:.1f} of {:.1f} GiB ({}){}", gib(e.memory.peak()), gib(e.memory.capacity),
                     e.memory.peak_moment, tight);
}

std::string schedule_of(const Evaluation& e) {
  if (pipeline_stages(e.mesh) == 1) return "";
  const TrainConfig& c = e.config;
  const std::string repeats = c.num_pipeline_repeats == 1 ? "" : fmt::format("{} repeats of ", c.num_pipeline_repeats);
  return fmt::format(", {}{} layers a stage, {} microbatches{}", repeats, c.num_layers_per_pipeline_stage,
                     c.num_pipeline_microbatches, c.pipeline_fsdp_ag_once ? ", weights gathered once" : "");
}

std::string named(const Evaluation& e) {
  const std::string path = e.moe_path == MoePath::none ? "" : fmt::format(", {}", name_of(e.moe_path));
  return fmt::format("{} ({} rules{}{}, remat_policy={}, per_device_batch_size={})", describe(e.mesh), e.rules, path,
                     schedule_of(e), e.remat, e.config.per_device_batch_size);
}

double tokens_of(const Evaluation& e) {
  return e.time.tokens_per_second_per_device * static_cast<double>(e.devices) * e.time.step().value;
}

struct Part {
  std::string name;
  double loss;  ///< seconds a token that the other loses here
};

/// The part of the step in which `other` loses most, per token.
Part biggest_loss(const Evaluation& best, const Evaluation& other) {
  const auto loss = [&](Seconds mine, Seconds theirs) {
    return theirs.value / tokens_of(other) - mine.value / tokens_of(best);
  };
  std::array<Part, 3> parts = {
      Part{"compute", loss(best.time.compute, other.time.compute)},
      Part{"exposed communication", loss(best.time.exposed_collective, other.time.exposed_collective)},
      Part{"the pipeline's bubble", loss(best.time.bubble, other.time.bubble)}};
  return *std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.loss < b.loss; });
}

std::string memory_difference(const Evaluation& best, const Evaluation& other) {
  const double more = gib(other.memory.peak()) - gib(best.memory.peak());
  return fmt::format("needs {:.1f} GiB {}", std::abs(more), more < 0 ? "less" : "more");
}

std::string why_not(const Evaluation& best, const Evaluation& other) {
  const double mine = best.time.step().value / tokens_of(best), theirs = other.time.step().value / tokens_of(other);
  const double slower = (theirs / mine - 1) * 100;
  if (slower < 0.05)
    return fmt::format("next best: {} is as fast and {}", named(other), memory_difference(best, other));
  const auto [part, loss] = biggest_loss(best, other);
  return fmt::format("next best: {} is {:.1f}% slower, {:.1f}% of a step in {}, and {}", named(other), slower,
                     100 * loss / mine, part, memory_difference(best, other));
}

std::string exposed_permutes(const Evaluation& e) {
  Seconds permutes;
  for (const auto& collective : e.collectives)
    if (collective.kind == CollectiveKind::collective_permute) permutes += collective.seconds;
  return fmt::format("{:.1f}% of the step's time if nothing hid them", 100 * permutes.value / e.time.step().value);
}

std::string bubble_of(const Evaluation& e) {
  return fmt::format("its bubble is {:.1f}% of its step", 100 * e.time.bubble.value / e.time.step().value);
}

/// How the best pipeline compares, whatever its place.
std::string where_pipelines_are(const Evaluation& best, const Evaluation& pipeline) {
  if (pipeline_stages(best.mesh) > 1)
    return fmt::format("a pipeline is fastest: {}; its permutes are {}", bubble_of(pipeline),
                       exposed_permutes(pipeline));
  const double mine = best.time.step().value / tokens_of(best);
  const double slower = (pipeline.time.step().value / tokens_of(pipeline) / mine - 1) * 100;
  const auto [part, loss] = biggest_loss(best, pipeline);
  return fmt::format("best pipeline: {} is {:.1f}% slower, {:.1f}% of a step in {}; {}, its permutes are {}, and it {}",
                     named(pipeline), slower, 100 * loss / mine, part, bubble_of(pipeline), exposed_permutes(pipeline),
                     memory_difference(best, pipeline));
}

bool some_pipeline(const std::vector<Parallelism>& parallelisms) {
  return std::any_of(parallelisms.begin(), parallelisms.end(),
                     [](const Parallelism& p) { return pipeline_stages(p.mesh) > 1; });
}

/// How much of the time every candidate of a rule set loses at least.
std::vector<std::string> what_other_rules_cost(const Evaluation& best, const SearchSpace& space,
                                               const std::vector<Parallelism>& parallelisms, const Explored& explored) {
  std::map<std::size_t, double> least;  // by rule set
  for (std::size_t i = 0; i < parallelisms.size(); ++i)
    if (const auto bound = explored.least_seconds[i]) {
      const auto [known, is_new] = least.try_emplace(parallelisms[i].rules, *bound);
      known->second = std::min(known->second, *bound);
    }
  std::vector<std::string> sentences;
  const double mine = best.time.step().value / tokens_of(best);
  for (const auto& [rules, seconds] : least) {
    const double slower = (seconds / mine - 1) * 100;
    if (space.rule_sets[rules].name != best.rules && slower >= 0.05)
      sentences.push_back(
          fmt::format("rule set {} is at least {:.1f}% slower on every mesh where it differs from the "
                      "sets before it",
                      space.rule_sets[rules].name, slower));
  }
  return sentences;
}

std::string what_dropping_means(const Evaluation& e) {
  return fmt::format(
      "the dropping path leaves out tokens beyond {} times an expert's balanced share; --moe ragged keeps "
      "every token",
      e.config.capacity_factor);
}

}  // namespace

std::vector<std::string> reasons_for(const MachinePlan& plan, const std::optional<Evaluation>& pipeline,
                                     const SearchSpace& space, const std::vector<Parallelism>& parallelisms,
                                     const Explored& explored) {
  const Evaluation& best = *plan.recommended;
  std::vector<std::string> reasons = {where_time_goes(best), memory_at_peak(best)};
  if (!plan.alternatives.empty()) reasons.push_back(why_not(best, plan.alternatives.front()));
  if (pipeline) reasons.push_back(where_pipelines_are(best, *pipeline));
  if (!pipeline && some_pipeline(parallelisms)) reasons.push_back("no pipeline searched fits");
  for (auto& sentence : what_other_rules_cost(best, space, parallelisms, explored))
    reasons.push_back(std::move(sentence));
  if (best.moe_path == MoePath::dropping) reasons.push_back(what_dropping_means(best));
  return reasons;
}

}  // namespace shardplan
