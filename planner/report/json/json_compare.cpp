#include <planner/compare/traffic.hpp>
#include <planner/report/compare/compare_table.hpp>
#include <planner/report/compare_report.hpp>
#include <planner/report/json/json_values.hpp>
#include <planner/search/comparison.hpp>

namespace shardplan {
namespace {

OrderedJson json_by_axis(const Evaluation& evaluation) {
  OrderedJson all = OrderedJson::array();
  for (const auto& one : traffic_by_axes(evaluation))
    all.push_back({{"kind", name_of(one.kind)},
                   {"axes", one.axes},
                   {"executions", one.executions},
                   {"bytes", one.bytes.value},
                   {"seconds", json_number(one.seconds.value, "seconds")},
                   {"exposed_seconds", json_number(one.exposed.value, "exposed_seconds")},
                   {"hidden_seconds", json_number(one.hidden().value, "hidden_seconds")}});
  return all;
}

OrderedJson json_figures(const Evaluation& e) {
  const TrafficBytes traffic = traffic_of(e);
  return {{"all_to_all_bytes", traffic.all_to_all.value},
          {"gather_bytes", traffic.gather.value},
          {"reduce_bytes", traffic.reduce.value},
          {"permute_bytes", traffic.permute.value},
          {"step_seconds", json_number(e.time.step().value, "step_seconds")},
          {"compute_seconds", json_number(e.time.compute.value, "compute_seconds")},
          {"exposed_collective_seconds", json_number(e.time.exposed_collective.value, "exposed_collective_seconds")},
          {"hidden_collective_seconds", json_number(e.time.hidden_collective.value, "hidden_collective_seconds")},
          {"exposed_host_seconds", json_number(e.time.exposed_host.value, "exposed_host_seconds")},
          {"bubble_seconds", json_number(e.time.bubble.value, "bubble_seconds")},
          {"all_token_routing_seconds", json_number(e.time.all_token_routing.value, "all_token_routing_seconds")},
          {"tokens_per_second_per_device",
           json_number(e.time.tokens_per_second_per_device, "tokens_per_second_per_device")},
          {"lacks_bias_gradients", lacks_bias_gradients(e)},
          {"peak_bytes", e.memory.peak().value},
          {"peak_range", json_byte_range(e.memory.low, e.memory.high)},
          {"capacity_bytes", e.memory.capacity.value},
          {"reserved_bytes", e.memory.reserved.value},
          {"fit", name_of(e.memory.fit())}};
}

OrderedJson json_arguments(const RunArguments& list) {
  OrderedJson arguments = OrderedJson::object();
  for (const auto& [key, value] : list) arguments[key] = value;
  return arguments;
}

OrderedJson json_row(const ComparedRow& row, const Evaluation& base) {
  const Evaluation& e = row.evaluation;
  OrderedJson value = OrderedJson::object();
  if (!row.name.empty()) value["name"] = row.name;
  if (!row.settings.empty()) value["settings"] = row.settings;
  value.update({{"model", e.model}, {"hardware", e.hardware}, {"chips", e.chips}});
  value.update({{"rules", e.rules}, {"mesh", json_mesh(e.mesh)}, {"moe_path", name_of(e.moe_path)}, {"remat", e.remat}});
  value["per_device_batch_size"] = json_number(e.config.per_device_batch_size, "per_device_batch_size");
  value["global_batch_tokens"] = e.global_batch_tokens;
  value.update(json_figures(e));
  if (row.dollars_per_million_tokens)
    value["dollars_per_million_tokens"] = json_number(*row.dollars_per_million_tokens, "dollars_per_million_tokens");
  value["slower"] = json_number(slower_than(base, e), "slower");
  if (e.infeasible) value["infeasible"] = json_infeasible(*e.infeasible);
  value["by_axis"] = json_by_axis(e);
  if (e.configuration) value["xla_flags"] = print_flags(flags_of(*e.configuration));
  value["maxtext_arguments"] = json_arguments(row.arguments);
  return value;
}

OrderedJson json_refused(const RefusedCase& refused) {
  OrderedJson value = {{"hardware", refused.hardware},
                       {"rules", refused.rules},
                       {"moe_path", name_of(refused.path)},
                       {"reason", refused.reason}};
  if (!refused.mesh.empty()) value["mesh"] = refused.mesh;
  if (!refused.settings.empty()) value["settings"] = refused.settings;
  return value;
}

OrderedJson json_lines(const std::vector<RuleLine>& lines) {
  OrderedJson all = OrderedJson::array();
  for (const auto& [line, rule] : lines) {
    OrderedJson value = {{"axes", rule.axes}};
    if (line > 0) value["line"] = line;
    all.push_back(std::move(value));
  }
  return all;
}

OrderedJson json_change(const RuleChange& change) {
  OrderedJson value = {{"part", name_of(change.part)}};
  if (change.part == RulePart::rules) value["logical"] = change.logical;
  value["first"] = json_lines(change.first);
  value["second"] = json_lines(change.second);
  value["alone"] = nullptr;
  if (!change.alone) return value;
  value["alone"] = json_figures(*change.alone);
  if (change.alone->infeasible) value["alone"]["infeasible"] = json_infeasible(*change.alone->infeasible);
  return value;
}

OrderedJson json_rule_difference(const RuleDifference& difference) {
  OrderedJson changes = OrderedJson::array();
  for (const auto& change : difference.changes) changes.push_back(json_change(change));
  return {{"first", difference.first}, {"second", difference.second}, {"changes", std::move(changes)}};
}

OrderedJson json_changed(const std::vector<ChangedArgument>& changed) {
  OrderedJson all = OrderedJson::array();
  for (const auto& [key, first, second] : changed) all.push_back({{"key", key}, {"first", first}, {"second", second}});
  return all;
}

}  // namespace

std::string compare_json(const CompareAnswer& answer) {
  const auto [model, hardware, chips] = subject_of(answer);
  OrderedJson rows = OrderedJson::array(), refused = OrderedJson::array();
  for (const auto& row : answer.rows) rows.push_back(json_row(row, answer.rows.front().evaluation));
  for (const auto& one : answer.refused) refused.push_back(json_refused(one));
  OrderedJson document = {{"schema_version", schema_version}, {"command", "compare"}, {"model", model},
                          {"hardware", hardware},             {"chips", chips},       {"rows", std::move(rows)}};
  document["refused"] = std::move(refused);
  if (!answer.changed) document["objective"] = name_of(answer.objective);
  if (answer.rules) document["rule_changes"] = json_rule_difference(*answer.rules);
  if (answer.changed) document["changed_arguments"] = json_changed(*answer.changed);
  return print_document(document);
}

}  // namespace shardplan
