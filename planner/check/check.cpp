#include <fmt/format.h>

#include <models/load_model.hpp>
#include <planner/check/check.hpp>
#include <planner/check/check_cases.hpp>
#include <planner/check/check_configuration.hpp>
#include <planner/check/group_findings.hpp>
#include <planner/check/rule_places.hpp>
#include <planner/check/rule_set_findings.hpp>
#include <planner/constraints/constraints.hpp>
#include <arguments/given_arguments.hpp>
#include <shardplan/parallel_for.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// A model whose own rules replace every other says nothing about the set that is checked.
bool is_swept(const Model& model) { return model.not_modelled.empty() && !model.rules.override_rules; }

std::vector<std::string> swept_models() {
  std::vector<std::string> names;
  for (auto& name : model_names())
    if (is_swept(load_model(name))) names.push_back(std::move(name));
  return names;
}

/// What became of one model: its cases, or why it has none.
struct ModelResult {
  std::vector<CaseResult> cases;
  std::string refused;
};

bool is_left_out(const Evaluation& evaluation) {
  return evaluation.infeasible && evaluation.infeasible->constraint != ConstraintId::hbm;
}

CaseResult result_of(CheckedConfiguration checked) {
  const Evaluation& e = checked.evaluation;
  CaseResult result{e.model, describe(e.mesh), e.moe_path, e.findings, std::nullopt, std::nullopt};
  result.evaluation = std::move(checked.evaluation);
  result.fixed = std::move(checked.fixed);
  return result;
}

/// A sweep leaves out what MaxText would refuse, and has no use for the counts of each case.
void sweep(const std::vector<Configuration>& configurations, ModelResult& result) {
  for (const auto& configuration : configurations) {
    if (first_violation(configuration)) continue;
    CheckedConfiguration checked = check_configuration(configuration);
    if (is_left_out(checked.evaluation)) continue;
    std::erase_if(checked.evaluation.findings, [](const Finding& f) { return f.id == FindingId::memory_exceeded; });
    result.cases.push_back(result_of(std::move(checked)));
    result.cases.back().evaluation.reset();
    result.cases.back().fixed.reset();
  }
}

ModelResult sweep_model(const CheckRequest& request, const std::string& model) try {
  ModelResult result;
  sweep(check_cases(request, model), result);
  return result;
} catch (const InputError& error) {
  return {{}, error.what()};
}

std::vector<CaseResult> sweep_models(const CheckRequest& request, const std::vector<std::string>& models) {
  std::vector<ModelResult> results(models.size());
  parallel_for(models.size(), [&](std::size_t i) { results[i] = sweep_model(request, models[i]); });
  std::vector<CaseResult> cases;
  std::string refused;
  for (auto& result : results) {
    if (refused.empty()) refused = result.refused;
    for (auto& one : result.cases) cases.push_back(std::move(one));
  }
  if (cases.empty()) throw InputError(refused.empty() ? "no model and mesh to check these rules on" : refused);
  return cases;
}

/// A kernel that nobody chose is worth a warning: it says nothing about the rules that are checked.
void demote_default_kernel(std::vector<Finding>& findings, const GivenArguments& arguments) {
  for (auto& finding : findings)
    if (finding.id == FindingId::attention_replicated && !arguments.find("attention"))
      finding.severity = std::min(finding.severity, Severity::warning);
}

std::vector<CaseResult> single(const CheckRequest& request) {
  const GivenArguments arguments(request.key_values, request.config_file);
  std::vector<CaseResult> cases;
  for (const auto& configuration : check_cases(request, *request.model)) {
    cases.push_back(result_of(check_configuration(configuration)));
    demote_default_kernel(cases.back().findings, arguments);
  }
  return cases;
}

/// Rules on the command line have no effect beside a custom set.
std::vector<Finding> dropped_arguments(const CheckRequest& request, const RuleSet& rules) {
  if (!rules.custom) return {};
  std::vector<Finding> findings;
  for (const auto& word : request.key_values)
    if (word.starts_with("logical_axis_rules="))
      findings.push_back({FindingId::custom_rules_drop_arguments,
                          Severity::warning,
                          "custom_mesh_and_rule replaces all rules: logical_axis_rules has no effect beside it",
                          rules.name,
                          {},
                          "put the rules into the custom set"});
  return findings;
}

}  // namespace

CheckAnswer check(const CheckRequest& request) {
  const RulePlaces places(request.rules);
  const bool one = request.model && gives_mesh(request);
  const std::vector<CaseResult> cases =
      one ? single(request)
          : sweep_models(request, request.model ? std::vector<std::string>{*request.model} : swept_models());
  std::vector<Finding> of_rules = rule_set_findings(places.rules());
  for (auto& finding : dropped_arguments(request, places.rules())) of_rules.push_back(std::move(finding));
  CheckAnswer answer = group_findings(cases, of_rules, places);
  answer.rules = request.rules;
  answer.rules_are_file = places.is_file();
  answer.hardware = request.machine.hardware.value_or(reference_machine);
  return answer;
}

}  // namespace shardplan
