#include <planner/report/json/json_plan.hpp>
#include <planner/report/json/json_values.hpp>
#include <planner/report/json/json_what_if.hpp>
#include <planner/report/shown_arguments.hpp>

namespace shardplan {
namespace {

// A point of the front: enough to choose by; `explain` with its maxtext_arguments gives the rest.
OrderedJson json_point(const Evaluation& evaluation) {
  OrderedJson arguments = OrderedJson::object();
  for (const auto& [key, value] : arguments_of(evaluation)) arguments[key] = value;
  return {{"mesh", json_mesh(evaluation.mesh)},
          {"rules", evaluation.rules},
          {"moe_path", name_of(evaluation.moe_path)},
          {"remat", evaluation.remat},
          {"per_device_batch_size", json_number(evaluation.config.per_device_batch_size, "per_device_batch_size")},
          {"step_seconds", json_number(evaluation.time.step().value, "step_seconds")},
          {"all_token_routing_seconds", json_number(evaluation.time.all_token_routing.value, "all_token_routing_seconds")},
          {"tokens_per_second_per_device",
           json_number(evaluation.time.tokens_per_second_per_device, "tokens_per_second_per_device")},
          {"peak_bytes", evaluation.memory.peak().value},
          {"xla_flags", print_flags(flags_of(*evaluation.configuration))},
          {"maxtext_arguments", std::move(arguments)}};
}

template <class Item, class Print>
OrderedJson json_list(const std::vector<Item>& items, Print print) {
  OrderedJson list = OrderedJson::array();
  for (const auto& item : items) list.push_back(print(item));
  return list;
}

OrderedJson json_strategy(const StrategyPlan& plan) {
  OrderedJson value = {
      {"strategy", name_of(plan.strategy)}, {"slower", json_number(plan.slower, "slower")}, {"why", plan.why}};
  if (!plan.pipeline.empty()) value["pipeline"] = plan.pipeline;
  value.update(json_point(plan.evaluation));
  return value;
}

OrderedJson json_rejection(const RejectionCount& rejection) {
  return {{"constraint", name_of(rejection.constraint)},
          {"candidates", rejection.candidates},
          {"example", rejection.example}};
}

OrderedJson json_would_fit(const WouldFit& way) {
  OrderedJson value = {{"change", way.change}};
  if (way.evaluation) value["evaluation"] = json_evaluation(*way.evaluation);
  return value;
}

OrderedJson json_machine(const MachinePlan& machine) {
  OrderedJson value = {{"hardware", machine.hardware}, {"feasible", machine.recommended.has_value()}};
  value["recommended"] = machine.recommended ? json_evaluation(*machine.recommended) : OrderedJson(nullptr);
  value["alternatives"] = json_list(machine.alternatives, json_evaluation);
  value["what_if"] = json_what_ifs(machine.what_ifs);
  value["reasons"] = machine.reasons;
  if (!machine.change_of_training.empty()) value["change_of_training"] = machine.change_of_training;
  if (machine.marginal) value["marginal"] = json_evaluation(*machine.marginal);
  value["strategies"] = json_list(machine.strategies, json_strategy);
  if (machine.dollars_per_million_tokens)
    value["dollars_per_million_tokens"] = json_number(*machine.dollars_per_million_tokens, "dollars_per_million_tokens");
  value["evaluated"] = machine.evaluated;
  value["fitting"] = machine.fitting;
  value["search_seconds"] = json_number(machine.search_seconds, "search_seconds");
  if (machine.unfinished)
    value["unfinished"] = {{"limit", machine.unfinished->for_memory ? "memory" : "time"},
                           {"left", machine.unfinished->left},
                           {"shardings", machine.unfinished->of}};
  value["pareto"] = json_list(machine.pareto, json_point);
  value["rejections"] = json_list(machine.rejections, json_rejection);
  if (machine.closest) value["closest"] = json_evaluation(*machine.closest);
  value["would_fit"] = json_list(machine.would_fit, json_would_fit);
  if (!machine.refused.empty()) value["refused"] = machine.refused;
  return value;
}

}  // namespace

std::string plan_json(const PlanAnswer& answer) {
  return print_document({{"schema_version", schema_version},
                         {"command", "plan"},
                         {"model", answer.model},
                         {"chips", answer.chips},
                         {"objective", name_of(answer.objective)},
                         {"results", json_list(answer.machines, json_machine)}});
}

}  // namespace shardplan
