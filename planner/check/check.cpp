#include <fmt/format.h>

#include <numeric>
#include <planner/check/check.hpp>
#include <planner/check/check_cases.hpp>
#include <planner/check/check_configuration.hpp>
#include <planner/check/group_findings.hpp>
#include <planner/check/rule_set_findings.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <shardplan/parallel_for.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// What became of models: their cases, and why others are none.
struct Sweep {
  std::vector<CaseResult> cases;
  std::vector<LeftOutCase> left_out;
  std::vector<SweptModel> models;
};

/// Too little memory says nothing about rules, and weights that lie whole are what rules make of them: a finding.
bool is_left_out(const Evaluation& evaluation) {
  return !runs_if_large_enough(evaluation) && evaluation.infeasible->constraint != ConstraintId::weights_not_sharded;
}

Bytes moved_in(const std::vector<Collective>& collectives) {
  return std::accumulate(collectives.begin(), collectives.end(), Bytes{},
                         [](Bytes sum, const Collective& collective) { return sum + collective.moved(); });
}

CaseResult result_of(CheckedConfiguration checked) {
  const Evaluation& e = checked.evaluation;
  const CheckedPlace place{e.model, describe(e.mesh), e.moe_path};
  CaseResult result{{place, e.global_batch_tokens, e.time.with_routing(), moved_in(e.collectives)}, e.findings, {}, {}};
  result.evaluation = std::move(checked.evaluation);
  result.fixed = std::move(checked.fixed);
  return result;
}

/// A kernel that nobody chose is worth a warning: it says nothing about the rules that are checked.
void demote_default_kernel(std::vector<Finding>& findings, const GivenArguments& arguments) {
  for (auto& finding : findings)
    if (finding.id == FindingId::attention_replicated && !arguments.find("attention"))
      finding.severity = std::min(finding.severity, Severity::warning);
}

/// A sweep leaves out what MaxText would refuse, and has no use for the counts of each case.
void sweep(const std::vector<Configuration>& configurations, const GivenArguments& arguments, Sweep& result) {
  for (const auto& configuration : configurations) {
    const auto leave_out = [&](const Infeasible& violation) {
      const CheckedPlace place{configuration.model.name, describe(configuration.mesh), configuration.config.moe_path};
      result.left_out.push_back({place, violation.message});
    };
    if (const auto violation = first_violation_of_settings(configuration)) {
      leave_out(*violation);
      continue;
    }
    Evaluation evaluation = evaluate_to_show(configuration);
    if (is_left_out(evaluation)) {
      leave_out(*evaluation.infeasible);
      continue;
    }
    CheckedConfiguration checked = check_evaluation(configuration, std::move(evaluation));
    std::erase_if(checked.evaluation.findings, [](const Finding& f) { return f.id == FindingId::memory_exceeded; });
    result.cases.push_back(result_of(std::move(checked)));
    demote_default_kernel(result.cases.back().findings, arguments);
    result.cases.back().evaluation.reset();
    result.cases.back().fixed.reset();
  }
}

Sweep sweep_model(const CheckRequest& request, const Model& model) try {
  Sweep result;
  const auto cases = check_cases(request, model);
  if (!cases.empty()) result.models = {{model.name, cases.front().rules.mesh_axes}};
  sweep(cases, request.run.arguments, result);
  return result;
} catch (const InputError& error) {
  return {{}, {{{model.name, "", MoePath::none}, error.what()}}, {}};
}

Sweep sweep_models(const CheckRequest& request) {
  std::vector<Sweep> results(request.models.size());
  parallel_for(results.size(), [&](std::size_t i) { results[i] = sweep_model(request, request.models[i]); });
  Sweep all;
  for (auto& result : results) {
    std::move(result.cases.begin(), result.cases.end(), std::back_inserter(all.cases));
    std::move(result.left_out.begin(), result.left_out.end(), std::back_inserter(all.left_out));
    std::move(result.models.begin(), result.models.end(), std::back_inserter(all.models));
  }
  if (!all.cases.empty()) return all;
  if (all.left_out.empty()) throw InputError("no model and mesh to check these rules on");
  const auto& [place, why] = all.left_out.front();
  throw InputError(place.mesh.empty() ? why : place.model + ": " + why);
}

/// What another check has to say, too, if its steps are to be compared: not the rules, which are what is checked.
std::vector<std::string> settings_of(const CheckRequest& request) {
  std::vector<std::string> settings;
  for (const auto& [key, argument] : request.run.arguments.all())
    if (key != "custom_mesh_and_rule" && key != "logical_axis_rules" && key != "mesh_axes" && key != "model_name")
      settings.push_back(key + "=" + argument.text);
  if (const int slices = request.machines.front().num_slices; slices > 1)
    settings.push_back(fmt::format("compile_topology_num_slices={}", slices));
  return settings;
}

std::vector<CaseResult> single(const CheckRequest& request) {
  std::vector<CaseResult> cases;
  for (const auto& configuration : check_cases(request, request.models.front())) {
    cases.push_back(result_of(check_configuration(configuration)));
    demote_default_kernel(cases.back().findings, request.run.arguments);
  }
  return cases;
}

/// Rules on the command line have no effect beside a custom set.
std::vector<Finding> dropped_arguments(const CheckRequest& request) {
  const RuleSet& rules = request.rules.chosen();
  if (!rules.custom || !request.run.arguments.find("logical_axis_rules")) return {};
  return {{FindingId::custom_rules_drop_arguments, Severity::warning,
           "custom_mesh_and_rule replaces all rules: logical_axis_rules has no effect beside it", rules.name, {},
           "put the rules into the custom set"}};
}

/// Names in the rules of the command line, which stand at no line of the set.
std::vector<Finding> misspelt_in_arguments(const CheckRequest& request) {
  if (request.rules.chosen().custom) return {};  // dropped_arguments
  const ModelRules& changes = request.run.arguments.rules_on_command_line();
  RuleSet given = request.rules.rules();
  given.rules = changes.rules;
  if (!changes.mesh_axes.empty()) given.mesh_axes = changes.mesh_axes;
  return misspellings(given);
}

}  // namespace

CheckAnswer check(const CheckRequest& request) {
  Sweep all = request.is_single ? Sweep{single(request), {}, {}} : sweep_models(request);
  std::vector<Finding> of_rules = rule_set_findings(request.rules.rules());
  for (auto& findings : {dropped_arguments(request), misspelt_in_arguments(request)})
    of_rules.insert(of_rules.end(), findings.begin(), findings.end());
  CheckAnswer answer = group_findings(all.cases, of_rules, request.rules);
  answer.arguments = settings_of(request);
  answer.left_out = std::move(all.left_out);
  answer.swept = std::move(all.models);
  answer.rules = request.rules.name();
  answer.rules_are_file = request.rules.is_file();
  answer.hardware = request.hardware;
  return answer;
}

}  // namespace shardplan
