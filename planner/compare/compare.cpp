#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/base_default.hpp>
#include <arguments/print_configuration.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <arguments/words/argument_values.hpp>
#include <planner/compare/compare.hpp>
#include <planner/compare/compare_case.hpp>
#include <planner/compare/swap_rules.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/comparison.hpp>
#include <shardplan/error.hpp>
#include <span>
#include <tuple>

namespace shardplan {
namespace {

std::vector<MoePath> paths_of(const PlanRequest& request) {
  return request.moe_paths.empty() ? std::vector{MoePath::none} : request.moe_paths;
}

PlanRequest with(PlanRequest request, const HardwareProfile& machine, const RuleSet& rules, MoePath path) {
  request.machines = {machine};
  request.rule_sets = {rules};
  if (path != MoePath::none) request.moe_paths = {path};
  return request;
}

void add_case(CompareAnswer& answer, const std::vector<std::string>& settings, const PlanRequest& one, int top) {
  auto best = best_of_case(one, top, cost_model());
  if (const auto* refusal = std::get_if<Refusal>(&best)) {
    const MoePath path = one.moe_paths.empty() ? MoePath::none : one.moe_paths.front();
    const std::string mesh = one.mesh.empty() ? "" : describe(one.mesh);
    answer.refused.push_back({one.machines.front().name, settings, one.rule_sets.front().name, path, mesh, refusal->reason,
                              refusal->is_infeasible});
    return;
  }
  for (auto& evaluation : std::get<std::vector<Evaluation>>(best)) {
    answer.rows.push_back(compared_row("", settings, std::move(evaluation)));
    if (one.objective == Objective::cost)
      answer.rows.back().dollars_per_million_tokens =
          dollars_per_million_tokens(answer.rows.back().evaluation, one.machines.front());
  }
}

/// Runs and fits, then may fit, then does neither; a token's time within each, or what it costs.
std::tuple<bool, Fit, double> rank_of(const ComparedRow& row) {
  const Evaluation& e = row.evaluation;
  return {!runs_if_large_enough(e), e.memory.fit(), row.dollars_per_million_tokens.value_or(seconds_per_token(e))};
}

void sort_rows(std::vector<ComparedRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedRow& a, const ComparedRow& b) {
    return rank_of(a) < rank_of(b);
  });
}

/// That nothing runs is an answer; that nothing could be asked for is none.
void require_answer(const CompareAnswer& answer) {
  const auto is_infeasible = [](const RefusedCase& refused) { return refused.is_infeasible; };
  if (!answer.rows.empty() || std::any_of(answer.refused.begin(), answer.refused.end(), is_infeasible)) return;
  if (answer.refused.empty()) throw InternalError("compare was asked for nothing");
  const RefusedCase& first = answer.refused.front();
  std::string subject = first.rules;
  if (first.path != MoePath::none) subject += fmt::format(", {}", name_of(first.path));
  throw InputError(fmt::format("none of {} can be costed; {}: {}", answer.refused.size(), subject, first.reason));
}

/// One of several meshes that no rule set on no machine has: a slip, which would be one row less.
void require_mesh(const CompareAnswer& answer, std::size_t rows, std::size_t refused, const PlanRequest& asked) {
  const std::span own = std::span(answer.refused).subspan(refused);
  const auto is_infeasible = [](const RefusedCase& one) { return one.is_infeasible; };
  if (asked.mesh.empty() || answer.rows.size() > rows || own.empty() || std::ranges::any_of(own, is_infeasible)) return;
  throw InputError(fmt::format("--mesh {}: {}", describe(asked.mesh), own.front().reason));
}

/// As commands print it: base.yml's 12.0 is 12.
std::string printed_default(const std::string& key) {
  const std::string text = base_default(key);
  const auto number = number_in(text);
  return number ? print_value(*number) : text;
}

/// MaxText's default where the run doesn't say it.
std::string value_of(const RunArguments& arguments, const std::string& key) {
  const std::string* said = find_argument(arguments, key);
  return said ? *said : printed_default(key);
}

/// Brackets of a list say which parts belong together.
bool differ(const std::string& value, const std::string& other) {
  return value.starts_with('[') ? value != other : !say_the_same(value, other);
}

std::vector<ChangedArgument> changed_arguments(const RunArguments& first, const RunArguments& second) {
  std::vector<ChangedArgument> changed;
  for (const auto& [key, value] : first)
    if (const std::string other = value_of(second, key); differ(value, other))
      changed.push_back({key, value, other});
  for (const auto& [key, value] : second)
    if (const std::string own = value_of(first, key); !find_argument(first, key) && differ(value, own))
      changed.push_back({key, own, value});
  return changed;
}

/// The best run of the first rules that MaxText would start; none, and no line of them can be weighed.
const Evaluation* best_run_of(const CompareAnswer& answer, const std::string& rules) {
  for (const auto& row : answer.rows)
    if (row.evaluation.rules == rules) return &row.evaluation;
  return nullptr;
}

}  // namespace

ComparedRow compared_row(std::string name, std::vector<std::string> settings, Evaluation evaluation) {
  RunArguments arguments;
  if (evaluation.configuration) arguments = maxtext_arguments(*evaluation.configuration);
  return {std::move(name), std::move(settings), std::move(evaluation), std::move(arguments), std::nullopt};
}

CompareAnswer compare(const CompareRequest& request) {
  CompareAnswer answer;
  const PlanRequest& first = request.cases.front().plan;
  answer.asked = {first.model.name, first.machines.front().name, first.chips};
  answer.objective = first.objective;
  answer.varies_batch = request.varies_batch;
  answer.varies_remat = request.varies_remat;
  for (const auto& [settings, plan] : request.cases) {
    const std::size_t rows = answer.rows.size(), refused = answer.refused.size();
    for (const auto& machine : plan.machines)
      for (const auto& rules : plan.rule_sets)
        for (const MoePath path : paths_of(plan)) add_case(answer, settings, with(plan, machine, rules, path), request.top);
    if (request.cases.size() > 1) require_mesh(answer, rows, refused, plan);
  }
  require_answer(answer);
  sort_rows(answer.rows);
  return answer;
}

CompareAnswer compare_rules(const CompareRequest& request, const LinedRules& first, const LinedRules& second) {
  CompareRequest both = request;
  for (auto& asked : both.cases) asked.plan.rule_sets = {first.set, second.set};
  CompareAnswer answer = compare(both);
  answer.rules = rule_difference(first, second);
  if (const Evaluation* base = best_run_of(answer, first.set.name))
    for (auto& change : answer.rules->changes)
      change.alone = with_rules(*base->configuration, with_change(first.set, change, second.set));
  return answer;
}

CompareAnswer compare_runs(ComparedRow first, ComparedRow second) {
  CompareAnswer answer;
  answer.changed = changed_arguments(first.arguments, second.arguments);
  answer.rows.push_back(std::move(first));
  answer.rows.push_back(std::move(second));
  return answer;
}

}  // namespace shardplan
