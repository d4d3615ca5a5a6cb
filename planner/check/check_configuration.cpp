#include <fmt/format.h>

#include <planner/check/check_configuration.hpp>
#include <planner/check/remedies.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/findings/subject.hpp>

namespace shardplan {
namespace {

Traffic all_traffic(const Evaluation& evaluation) {
  Traffic traffic;
  for (const auto& collective : evaluation.collectives) {
    traffic.bytes += collective.bytes * collective.executions;
    traffic.seconds += collective.seconds;
  }
  return traffic;
}

FindingCost difference(const Evaluation& now, const Evaluation& fixed) {
  const Traffic before = all_traffic(now), after = all_traffic(fixed);
  return {before.bytes - after.bytes, before.seconds - after.seconds, now.time.step() - fixed.time.step()};
}

std::string comparison(const Evaluation& now, const Evaluation& fixed) {
  const Traffic before = all_traffic(now), after = all_traffic(fixed);
  return fmt::format("collectives of a step: {} in {} now, {} in {} with the fix; step {} now, {} with it",
                     in_words(before.bytes), in_words(before.seconds), in_words(after.bytes), in_words(after.seconds),
                     in_words(now.time.step()), in_words(fixed.time.step()));
}

bool runs_if_large_enough(const Evaluation& evaluation) {
  return !evaluation.infeasible || evaluation.infeasible->constraint == ConstraintId::hbm;
}

/// MaxText refuses these whatever they cost.
bool is_refused(const Finding& finding) { return finding.id == FindingId::weights_not_sharded; }

struct CostedFix {
  std::string words;
  Evaluation evaluation;
  FindingCost cost;
};

/// Every finding with a fix is about collectives; compute that the fix changes beside them is no reason.
bool pays(const FindingCost& cost) { return cost.collectives.value > 0; }

/// The first fix that pays; where none does, the first that runs.
std::optional<CostedFix> best_fix(const Finding& finding, const Configuration& configuration, const Evaluation& now) {
  std::optional<CostedFix> first;
  for (const auto& [words, changed] : fixes_of(finding, configuration)) {
    Evaluation fixed = evaluate_to_show(changed);
    if (!runs_if_large_enough(fixed)) continue;
    const FindingCost cost = difference(now, fixed);
    if (!first || pays(cost)) first = CostedFix{words, std::move(fixed), cost};
    if (pays(cost)) break;
  }
  return first;
}

/// The finding in the light of its fix: one that costs less than its fix is worth no more than a note.
Finding weighed(Finding finding, const CostedFix& fix, const Evaluation& now) {
  finding.cost = fix.cost;
  finding.fix = fix.words;
  finding.message += fmt::format(" ({})", comparison(now, fix.evaluation));
  if (finding.id == FindingId::expert_axis_stolen && pays(fix.cost) && fix.cost.step.value < 0)
    finding.message += "; the step counts gathers of weights as hidden behind compute, exchanges of tokens not";
  if (pays(fix.cost) || is_refused(finding) || finding.severity == Severity::note) return finding;
  finding.severity = Severity::note;
  finding.message += "; on this mesh, with these sizes, the fix costs more than it spares";
  return finding;
}

/// Dims that don't divide, memory and whole weights are findings of their own.
FindingId finding_of(ConstraintId constraint) {
  if (is_divisibility(constraint)) return FindingId::indivisible_dim;
  if (constraint == ConstraintId::hbm) return FindingId::memory_exceeded;
  return constraint == ConstraintId::weights_not_sharded ? FindingId::weights_not_sharded : FindingId::refused;
}

std::string_view fix_of(FindingId id) {
  if (id == FindingId::indivisible_dim) return "a mesh or a batch that divides";
  if (id == FindingId::memory_exceeded)
    return "more devices, a smaller per_device_batch_size, or a remat_policy that saves less";
  return "";
}

/// What MaxText refuses, or computes wrongly, as a finding; the torus' complaint is one already.
std::optional<Finding> refusal(const Evaluation& evaluation) {
  const auto& infeasible = evaluation.infeasible;
  if (!infeasible || infeasible->constraint == ConstraintId::mesh_does_not_fit_torus) return std::nullopt;
  Finding finding;
  finding.id = finding_of(infeasible->constraint);
  finding.severity = finding.id == FindingId::memory_exceeded ? Severity::warning : Severity::error;
  finding.message = infeasible->message;
  finding.where = describe(evaluation.mesh);
  finding.fix = fix_of(finding.id);
  if (finding.id == FindingId::refused) finding.broken = infeasible->constraint;
  return finding;
}

}  // namespace

CheckedConfiguration check_configuration(const Configuration& configuration) {
  CheckedConfiguration checked{evaluate_to_show(configuration), std::nullopt};
  Seconds most;
  for (auto& finding : checked.evaluation.findings) {
    auto fix = best_fix(finding, configuration, checked.evaluation);
    if (!fix) continue;
    finding = weighed(std::move(finding), *fix, checked.evaluation);
    if (finding.severity == Severity::note || (checked.fixed && fix->cost.collectives <= most)) continue;
    most = fix->cost.collectives;
    checked.fixed = std::move(fix->evaluation);
  }
  if (auto finding = refusal(checked.evaluation)) checked.evaluation.findings.push_back(std::move(*finding));
  return checked;
}

}  // namespace shardplan
