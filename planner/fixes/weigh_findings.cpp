#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <planner/evaluate/evaluate.hpp>
#include <planner/findings/replicated_activations.hpp>
#include <planner/findings/resharded_activations.hpp>
#include <planner/findings/subject.hpp>
#include <planner/fixes/memory_under_flags.hpp>
#include <planner/fixes/remedies.hpp>
#include <planner/fixes/weigh_findings.hpp>
#include <planner/fixes/weigh_flags.hpp>

namespace shardplan {
namespace {

Traffic all_traffic(const Evaluation& evaluation) {
  return traffic_of(evaluation.collectives, [](const Collective&) { return true; });
}

FindingCost difference(const Evaluation& now, const Evaluation& fixed) {
  const Traffic before = all_traffic(now), after = all_traffic(fixed);
  const auto host = [](const StepTime& time) { return time.exposed_host + time.hidden_host; };
  return {before.bytes - after.bytes, before.seconds - after.seconds, now.time.compute - fixed.time.compute,
          now.time.with_routing() - fixed.time.with_routing(), host(now.time) - host(fixed.time)};
}

/// What the fix changes in numbers that are shown; "" where it is as fast and moves as much.
std::string comparison(const Evaluation& now, const Evaluation& fixed) {
  const Traffic before = all_traffic(now), after = all_traffic(fixed);
  const std::string step = in_words(now.time.with_routing()), fixed_step = in_words(fixed.time.with_routing());
  if (before.bytes == after.bytes)
    return step == fixed_step ? "" : fmt::format(" (step {} now, {} with the fix)", step, fixed_step);
  return fmt::format(" (collectives of a step: {} in {} now, {} in {} with the fix; step {} now, {} with it)",
                     in_words(before.bytes), in_words(before.seconds), in_words(after.bytes), in_words(after.seconds),
                     step, fixed_step);
}

struct CostedFix {
  std::string words;
  Configuration configuration;
  Evaluation evaluation;
  FindingCost cost;
  bool pays = false;  ///< always, of what is about the run
};

constexpr double worth_an_edit = 0.05;  // of a step, where rules may as well be as they are

/// A finding about collectives is mended by less of them, and by no compute, routing of all tokens included, nor copies to
/// the host, that cost more; all as if nothing overlapped, because what hides is a compiler's schedule. So is one whose
/// compute goes with it on the same path: experts that every device has. What is said of the step as a whole has to shorten
/// the step.
bool pays(const Finding& finding, const FindingCost& cost, const Evaluation& now, const Evaluation& fixed) {
  constexpr double worth_saying = 0.01;
  const FindingTraits& traits = traits_of(finding.id);
  const Seconds step = now.time.with_routing();
  const Seconds routing = now.time.all_token_routing - fixed.time.all_token_routing;
  if (traits.about_the_run()) return cost.step > step * worth_saying;
  if (traits.about_waiting) return cost.step.value > 0;
  if (traits.about_left_out_axis)  // less routing of all tokens alone is no reason to edit rules
    return cost.step > step * worth_an_edit && cost.collectives + cost.compute > step * worth_an_edit;
  if (traits.misspelling && cost.step > step * worth_saying) return true;  // whatever the rule was to do
  const Seconds spared = cost.collectives + cost.compute + cost.host + routing;
  const bool same_path = now.config.moe_path == fixed.config.moe_path;
  if (same_path && spared > step * worth_an_edit && cost.step > step * worth_an_edit) return true;
  return cost.collectives.value > 0 && spared.value > 0;
}

/// An axis that a rule may have or not, given to the batch of a dispatch whose experts have it: the next check would say so.
bool steals_expert_axis(const Finding& finding, const Evaluation& now, const Evaluation& fixed) {
  const auto is_stolen = [](const Evaluation& run) {
    return std::any_of(run.findings.begin(), run.findings.end(),
                       [](const Finding& one) { return one.id == FindingId::expert_axis_stolen; });
  };
  return traits_of(finding.id).about_left_out_axis && is_stolen(fixed) && !is_stolen(now);
}

/// The first fix that pays; where none does, the first that runs, of a finding about the run none.
std::optional<CostedFix> best_fix(const std::vector<Fix>& fixes, const Finding& finding, const Evaluation& now) {
  const FindingTraits& traits = traits_of(finding.id);
  std::optional<CostedFix> first;
  for (const auto& [words, changed] : fixes) {
    Evaluation fixed = evaluate_to_show(changed);
    if (!runs_if_large_enough(fixed) || steals_expert_axis(finding, now, fixed)) continue;
    const FindingCost cost = difference(now, fixed);
    const bool saves = pays(finding, cost, now, fixed);
    if (traits.said_where_it_pays() && !saves) continue;
    if (traits.undoes_saving && fixed.memory.fit() > now.memory.fit()) continue;
    if (traits.about_the_run() && (!saves || fixed.memory.fit() > now.memory.fit())) continue;
    if (!first || saves) first = CostedFix{words, changed, std::move(fixed), cost, saves};
    if (saves) break;
  }
  return first;
}

/// Other flags under which the fix spares another share of the step: the compiler's own, and those of published runs.
std::vector<CostUnderFlags> under_other_flags(const Configuration& configuration, const CostedFix& fix,
                                              const Evaluation& now) {
  constexpr double worth_saying = 0.02;
  std::vector<PublishedFlags> others = configuration.compiler.published;
  if (!configuration.compiler.flags.empty()) others.insert(others.begin(), PublishedFlags{});
  const double share = fix.cost.step / now.time.with_routing();
  std::vector<CostUnderFlags> costs;
  for (const auto& [flags, source] : others) {
    const CostUnderFlags cost{print_flags(flags), source, step_under(configuration, flags),
                              step_under(fix.configuration, flags)};
    if (std::abs((cost.step - cost.fixed_step) / cost.step - share) >= worth_saying) costs.push_back(cost);
  }
  return costs;
}

std::string in_words(const CostUnderFlags& cost) {
  return fmt::format("; with {}: step {} now, {} with the fix",
                     cost.flags.empty() ? "the compiler's default flags" : "the XLA flags of " + cost.source,
                     in_words(cost.step), in_words(cost.fixed_step));
}

/// A layout that costs less than its fix is worth no more than a note.
Finding weighed(Finding finding, const CostedFix& fix, const Evaluation& now) {
  finding.cost = fix.cost;
  finding.fix = fix.words;
  finding.message += comparison(now, fix.evaluation);
  for (const CostUnderFlags& cost : finding.under_flags) finding.message += in_words(cost);
  if (finding.id == FindingId::expert_axis_stolen && fix.pays && fix.cost.step.value < 0)
    finding.message += "; at this size the gathers hide behind compute, the exchanges don't";
  if (fix.pays || traits_of(finding.id).wrong) return finding;
  finding.severity = Severity::note;
  finding.message += fmt::format("; on this mesh, with these sizes, {} costs more than it spares", fix.words);
  finding.fix.clear();
  return finding;
}

std::vector<Finding> all_findings(const Configuration& configuration, const Evaluation& now) {
  std::vector<Finding> findings = now.findings;
  if (!now.laid_out) return findings;
  for (Finding& finding : replicated_activations(configuration, *now.laid_out)) findings.push_back(std::move(finding));
  constexpr double worth_a_look = worth_an_edit / 2;  // what comes of an exchange, gathers say, may be as much
  for (Finding& finding :
       resharded_activations(configuration, *now.laid_out, now.collectives, now.time.step() * worth_a_look))
    findings.push_back(std::move(finding));
  return findings;
}

/// A finding, the rules with its fix (none where it offers no fix) and the run with it (none where no fix runs).
struct Weighed {
  Finding finding;
  std::optional<RuleSet> mended;
  std::optional<Evaluation> fixed;
};

/// Of several rules that could take one axis the one in which it spares most; none where another finding's fix gives the
/// axis to the rule: a misspelt one, say.
bool is_said_better(const Finding& finding, const std::vector<Weighed>& all) {
  if (!traits_of(finding.id).about_left_out_axis) return false;
  return std::any_of(all.begin(), all.end(), [&](const Weighed& other) {
    if (!other.mended) return false;
    if (!traits_of(other.finding.id).about_left_out_axis)
      return names_axis(*other.mended, finding.rules.front().logical, finding.axes.front());
    return other.finding.axes == finding.axes && other.finding.cost->step > finding.cost->step;
  });
}

}  // namespace

WeighedFindings weigh_findings(const Configuration& configuration, const Evaluation& now) {
  std::vector<Weighed> all;
  for (Finding finding : all_findings(configuration, now)) {
    const FindingTraits& traits = traits_of(finding.id);
    const std::vector<Fix> fixes = fixes_of(finding, configuration);
    auto fix = best_fix(fixes, finding, now);
    if (!fix && traits.said_where_it_pays()) continue;
    const bool tried = traits.mended_by_settings || (traits.about_the_step && !fixes.empty());
    if (!fix && tried) finding.fix.clear();
    if (fix) {
      if (!traits.about_the_run()) finding.under_flags = under_other_flags(configuration, *fix, now);
      finding = weighed(std::move(finding), *fix, now);
    }
    Weighed& one = all.emplace_back();
    if (fix && !finding.fix.empty()) one.mended = fix->configuration.rules;
    if (fix) one.fixed = std::move(fix->evaluation);
    one.finding = std::move(finding);
  }
  WeighedFindings weighed_findings;
  Seconds most;
  for (Weighed& one : all) {
    if (is_said_better(one.finding, all)) continue;
    weighed_findings.findings.push_back(one.finding);
    if (!one.fixed || one.finding.severity == Severity::note) continue;
    if (weighed_findings.fixed && one.finding.cost->collectives <= most) continue;
    most = one.finding.cost->collectives;
    weighed_findings.fixed = std::move(one.fixed);
  }
  if (auto memory = memory_under_flags(configuration)) weighed_findings.findings.push_back(std::move(*memory));
  return weighed_findings;
}

}  // namespace shardplan
