#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/comparison.hpp>
#include <planner/search/reasons.hpp>
#include <planner/words/assumption_words.hpp>
#include <planner/words/fit_words.hpp>
#include <shardplan/attention/kernel_limits.hpp>

namespace shardplan {
namespace {

/// All collectives of one kind over the same axes: "all-gathers over fsdp".
using SecondsByKind = std::map<std::string, Seconds>;

SecondsByKind seconds_by_kind(const Evaluation& e) {
  SecondsByKind traffic;
  for (const auto& collective : e.collectives) {
    const auto axes = names_of(collective.axes, e.mesh);
    traffic[fmt::format("{} over {}", name_of(collective.kind), fmt::join(axes, "·"))] += collective.seconds;
  }
  return traffic;
}

std::string most_expensive(const Evaluation& e) {
  const SecondsByKind traffic = seconds_by_kind(e);
  if (traffic.empty()) return "";
  const auto most = std::max_element(traffic.begin(), traffic.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("; the most expensive is {} ({})", most->first, in_words(most->second));
}

std::string where_time_goes(const Evaluation& e) {
  const StepTime& time = e.time;
  const double whole = time.with_routing().value / 100;
  const auto beside = [&](std::string_view part, Seconds seconds) {
    return seconds.value > 0 ? fmt::format(", {} {:.0f}%", part, seconds.value / whole) : "";
  };
  const std::string hidden =
      time.hidden_collective.value <= 0
          ? most_expensive(e)
          : fmt::format("; {} of communication hides behind compute{}", in_words(time.hidden_collective), most_expensive(e));
  return fmt::format("a step of {} is {:.0f}% compute and {:.0f}% exposed communication{}{}{}{}",
                     in_words(time.with_routing()),
                     time.compute.value / whole, time.exposed_collective.value / whole,
                     beside("exposed host copies", time.exposed_host),
                     beside("the pipeline's bubble", time.bubble),
                     beside("the routing of all tokens", time.all_token_routing), hidden);
}

std::string memory_at_peak(const Evaluation& e) {
  const MemoryUse& memory = e.memory;
  const std::string reserve =
      memory.reserved.value > 0 ? fmt::format(", {:.1f} GiB kept free", gibibytes(memory.reserved)) : "";
  const std::string tight =
      memory.fit() == Fit::fits
          ? ""
          : fmt::format("; it {}: keep a smaller batch or a leaner remat_policy at hand", marginal_verdict(memory));
  const std::string range = memory.low < memory.high
                                ? fmt::format(", {:.1f} to {:.1f} if predictions are off by as much as they have been",
                                              gibibytes(memory.low), gibibytes(memory.high))
                                : "";
  return fmt::format("memory peaks at {:.1f} of {:.1f} GiB ({}){}{}{}", gibibytes(memory.peak()),
                     gibibytes(memory.capacity), memory.peak_moment, range, reserve, tight);
}

std::string named(const Evaluation& e) {
  const std::string path = e.moe_path == MoePath::none ? "" : fmt::format(", {}", name_of(e.moe_path));
  return fmt::format("{} ({} rules{}{}, remat_policy={}, per_device_batch_size={})", describe(e.mesh), e.rules, path,
                     schedule_of(e).empty() ? "" : ", " + schedule_of(e), e.remat, e.config.per_device_batch_size);
}

std::string what_is_faster(const Evaluation& best, const Evaluation& marginal) {
  return fmt::format("{} would be {:.1f}% faster, but peaks at {:.1f} to {:.1f} of {:.1f} GiB: it {}",
                     named(marginal), -100 * slower_than(best, marginal) / (1 + slower_than(best, marginal)),
                     gibibytes(marginal.memory.low), gibibytes(marginal.memory.high),
                     gibibytes(marginal.memory.capacity), marginal_verdict(marginal.memory));
}

std::string memory_difference(const Evaluation& best, const Evaluation& other) {
  const double more = gibibytes(other.memory.peak()) - gibibytes(best.memory.peak());
  if (std::abs(more) < 0.05) return "needs as much memory";
  return fmt::format("needs {:.1f} GiB {}", std::abs(more), more < 0 ? "less" : "more");
}

/// "is at least 3.2% slower"; from twice the time on "takes at least 17.8 times as long".
std::string slower_in_words(double slower, std::string_view bound = "") {
  return slower < 1 ? fmt::format("is {}{:.1f}% slower", bound, 100 * slower)
                    : fmt::format("takes {}{:.1f} times as long", bound, 1 + slower);
}

std::string why_not(const Evaluation& best, const Evaluation& other) {
  const double slower = slower_than(best, other);
  if (slower < visible_slowdown)
    return fmt::format("next best: {} is as fast and {}", named(other), memory_difference(best, other));
  return fmt::format("next best: {} {}, {}, and {}", named(other), slower_in_words(slower), biggest_loss(best, other),
                     memory_difference(best, other));
}

/// Less than that no measurement decides.
constexpr double worth_telling = 0.01;

/// Time a token where one assumption is as good, or as bad, as it may be.
double seconds_per_token(const Evaluation& e, Assumption assumption, bool good) {
  const auto is_it = [&](const AssumedStep& s) { return s.assumption == assumption; };
  const auto assumed = std::find_if(e.assumed.begin(), e.assumed.end(), is_it);
  const Seconds step = assumed == e.assumed.end() ? e.time.step() : good ? assumed->low : assumed->high;
  return (step + e.time.all_token_routing).value / tokens_of(e);
}

/// The assumption under which the next best would be the best by most; empty: it never would.
std::string what_would_change_it(const Evaluation& best, const Evaluation& other) {
  double most = worth_telling;
  std::optional<std::pair<Assumption, bool>> when;
  for (const auto* e : {&best, &other})
    for (const AssumedStep& assumed : e->assumed)
      for (const bool good : {true, false}) {
        const double faster =
            seconds_per_token(best, assumed.assumption, good) / seconds_per_token(other, assumed.assumption, good) - 1;
        if (assumed.assumption == Assumption::published_runs || faster <= most) continue;
        most = faster;
        when.emplace(assumed.assumption, good);
      }
  if (!when) return "";
  const auto [assumption, good] = *when;
  const std::string what =
      assumption == Assumption::overlap
          ? fmt::format("if {}", good ? "every collective hid behind compute" : "no collective hid behind compute")
          : fmt::format("{}, at the {} end,", in_words(assumption, best.configuration->hardware),
                        good ? "fast" : "slow");
  return fmt::format("the next best can't be told apart for sure: {} it would be {:.1f}% faster; measuring that decides",
                     what, 100 * most);
}

/// Strategies searched of which no candidate fits, or was found to before the search was stopped.
std::vector<std::string> what_does_not_fit(const MachinePlan& plan, const std::vector<Parallelism>& parallelisms,
                                           bool stopped) {
  std::vector<std::string> sentences;
  for (const Strategy strategy : strategies) {
    const auto is_it = [&](const StrategyPlan& p) { return p.strategy == strategy; };
    const auto uses_it = [&](const Parallelism& p) { return uses(p, strategy); };
    if (std::none_of(plan.strategies.begin(), plan.strategies.end(), is_it) &&
        std::any_of(parallelisms.begin(), parallelisms.end(), uses_it))
      sentences.push_back(fmt::format("no mesh with {} {}", meshes_of(strategy),
                                      stopped ? "was found to fit before the search was stopped" : "fits"));
  }
  return sentences;
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
  const double mine = seconds_per_token(best);
  for (const auto& [rules, seconds] : least) {
    const double slower = seconds / mine - 1;
    if (space.rule_sets[rules].name != best.rules && slower >= visible_slowdown)
      sentences.push_back(fmt::format("rule set {} {} on every mesh where it differs from the sets before it",
                                      space.rule_sets[rules].name, slower_in_words(slower, "at least ")));
  }
  return sentences;
}

/// Only where the search turned it off.
std::string why_not_packed(const Evaluation& e) {
  return fmt::format(
      "packing=false: attention={} packs documents in a sequence that is split over devices only in a load-balanced "
      "ring, so each document has a sequence of its own; without context in the mesh they are packed",
      name_of(e.config.attention));
}

/// Only where the search chose the passes: it makes a batch of two for what the update gathers alone (attempts.cpp).
bool has_two_passes_for_its_update(const Evaluation& e, const SearchSpace& space) {
  return e.config.shard_optimizer_over_data && e.config.gradient_accumulation_steps > 1 && !space.accumulation_fixed &&
         !space.global_batch_tokens;
}

std::string why_two_passes(const Evaluation& e) {
  return fmt::format(
      "gradient_accumulation_steps={}: in one pass shard_optimizer_over_data would have weights and moments gathered whole "
      "for the update, because data comes before other axes on dims of weights; gradients that are added up over passes lie "
      "as the weights do, and shards are updated",
      e.config.gradient_accumulation_steps);
}

/// Only where the search chose other blocks of attention than MaxText's; empty where they are as fast.
std::string what_default_blocks_cost(const Evaluation& best, const SearchSpace& space) {
  if (space.attention_blocks.empty() || has_default_splash_blocks(best.config)) return "";
  Configuration other = *best.configuration;
  other.config = with_splash_blocks(other.config, default_splash_blocks);
  PreparedMesh mesh;
  const Seconds step = evaluate_cost(other, mesh).time.with_routing();
  const double slower = step / best.time.with_routing() - 1;
  if (slower < visible_slowdown) return "";
  return fmt::format("attention in {}: in MaxText's own ({}) the step of {} {}", describe_splash_blocks(best.config),
                     describe_splash_blocks(other.config), in_words(step), slower_in_words(slower));
}

}  // namespace

std::vector<std::string> reasons_for(const MachinePlan& plan, const SearchSpace& space,
                                     const std::vector<Parallelism>& parallelisms, const Explored& explored) {
  const Evaluation& best = *plan.recommended;
  std::vector<std::string> reasons = {where_time_goes(best), memory_at_peak(best)};
  if (auto blocks = what_default_blocks_cost(best, space); !blocks.empty()) reasons.push_back(std::move(blocks));
  if (!space.packing_fixed && !best.config.packing) reasons.push_back(why_not_packed(best));
  if (has_two_passes_for_its_update(best, space)) reasons.push_back(why_two_passes(best));
  if (!plan.alternatives.empty()) {
    reasons.push_back(why_not(best, plan.alternatives.front()));
    if (auto change = what_would_change_it(best, plan.alternatives.front()); !change.empty())
      reasons.push_back(std::move(change));
  }
  if (plan.marginal) reasons.push_back(what_is_faster(best, *plan.marginal));
  for (auto& sentence : what_does_not_fit(plan, parallelisms, explored.left > 0)) reasons.push_back(std::move(sentence));
  for (auto& sentence : what_other_rules_cost(best, space, parallelisms, explored))
    reasons.push_back(std::move(sentence));
  return reasons;
}

std::string change_of_training(const Evaluation& plan, const Model& model) {
  if (plan.config.use_random_routing)
    return "use_random_routing draws experts at random: a benchmark's setting, the model does not learn to route";
  const Kernels& kernels = plan.configuration->compiler.kernels;
  const std::string_view attention = name_of(plan.config.attention);
  if (ignores_cap(model, kernels, plan.config))
    return fmt::format("trains another model than {}: MaxText gives attention={} no cap of scores (attn_logits_soft_cap; "
                       "attention=dot_product has it)",
                       model.name, attention);
  if (ignores_windows(model, kernels, plan.config))
    return fmt::format("trains another model than {}: MaxText gives attention={}{} no windows of {} tokens, so that all "
                       "layers attend to all",
                       model.name, attention, plan.config.packing ? " and packed documents" : "",
                       model.attention_pattern.window);
  const bool keeps_all = model.capacity_factor <= 0;
  if (plan.moe_path != MoePath::dropping || !keeps_all) return "";
  return fmt::format("trains another model than MaxText's default, which keeps every token: the dropping path leaves out "
                     "tokens beyond {} times an expert's balanced share (--moe ragged keeps them)",
                     plan.config.capacity_factor);
}

}  // namespace shardplan
