#include <algorithm>
#include <planner/check/check_configuration.hpp>
#include <planner/check/rule_set_findings.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/fixes/weigh_findings.hpp>

namespace shardplan {
namespace {

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

/// Whether one of the evaluation's findings says it already.
bool is_said(const Evaluation& evaluation, ConstraintId constraint) {
  if (constraint == ConstraintId::mesh_does_not_fit_torus) return true;
  const FindingId id = finding_of(constraint);
  return id != FindingId::refused && std::any_of(evaluation.findings.begin(), evaluation.findings.end(),
                                                 [&](const Finding& finding) { return finding.id == id; });
}

/// What MaxText refuses, or computes wrongly, as a finding.
std::optional<Finding> refusal(const Evaluation& evaluation) {
  const auto& infeasible = evaluation.infeasible;
  if (!infeasible || is_said(evaluation, infeasible->constraint)) return std::nullopt;
  Finding finding;
  finding.id = finding_of(infeasible->constraint);
  finding.severity = finding.id == FindingId::memory_exceeded ? Severity::warning : Severity::error;
  finding.message = infeasible->message;
  finding.where = describe(evaluation.mesh);
  finding.fix = fix_of(finding.id);
  if (finding.id == FindingId::refused) finding.broken = infeasible->constraint;
  return finding;
}

/// Errors where they cost something; elsewhere check.cpp says them once, as warnings about the rules alone.
void add_misspellings(std::vector<Finding>& findings, const RuleSet& rules) {
  for (auto& finding : misspellings(rules)) {
    finding.severity = Severity::error;
    findings.push_back(std::move(finding));
  }
}

bool costs_nothing(const Finding& finding) {
  return traits_of(finding.id).misspelling && (!finding.cost || finding.severity != Severity::error);
}

}  // namespace

CheckedConfiguration check_configuration(const Configuration& configuration) {
  return check_evaluation(configuration, evaluate_to_show(configuration));
}

CheckedConfiguration check_evaluation(const Configuration& configuration, Evaluation evaluation) {
  CheckedConfiguration checked{std::move(evaluation), std::nullopt};
  std::erase_if(checked.evaluation.findings, [](const Finding& finding) { return traits_of(finding.id).about_the_step; });
  add_misspellings(checked.evaluation.findings, configuration.rules);
  WeighedFindings weighed = weigh_findings(configuration, checked.evaluation);
  checked.evaluation.findings = std::move(weighed.findings);
  checked.fixed = std::move(weighed.fixed);
  std::erase_if(checked.evaluation.findings, costs_nothing);
  if (auto finding = refusal(checked.evaluation)) checked.evaluation.findings.push_back(std::move(*finding));
  return checked;
}

}  // namespace shardplan
