#include <planner/report/audit_report.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/json/timeline/json_timeline.hpp>
#include <planner/report/json/json_values.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string_view name_of(GroupFit fit) {
  switch (fit) {
    case GroupFit::whole_axes:
      return "whole_axes";
    case GroupFit::part_of_axes:
      return "part_of_axes";
    case GroupFit::permutation:
      return "permutation";
    case GroupFit::no_axes:
      return "no_axes";
  }
  throw InternalError("unknown GroupFit");
}

OrderedJson json_found(const AuditAnswer& answer) {
  std::vector<NamedCollective> collectives;
  for (const auto& entry : answer.found.collectives) collectives.push_back(entry.collective);
  OrderedJson all = json_collectives(collectives, answer.mesh);
  for (std::size_t i = 0; i < answer.found.collectives.size(); ++i) {
    all[i]["shape"] = answer.found.collectives[i].shape;
    all[i]["groups"] = name_of(answer.found.collectives[i].fit);
  }
  return all;
}

OrderedJson json_traffic(const Traffic& traffic) {
  return {{"bytes", traffic.bytes.value}, {"seconds", json_number(traffic.seconds.value, "seconds")}};
}

OrderedJson json_tensors(const std::vector<TensorTraffic>& tensors) {
  OrderedJson all = OrderedJson::array();
  for (const auto& one : tensors) {
    OrderedJson tensor = {{"tensor", one.tensor}};
    tensor.update(json_traffic(one.traffic));
    all.push_back(std::move(tensor));
  }
  return all;
}

OrderedJson json_changes(const AuditAnswer& answer) {
  OrderedJson all = OrderedJson::array();
  for (const auto& change : answer.changes) {
    if (change.found.bytes == change.expected.bytes) continue;
    all.push_back({{"kind", shardplan::name_of(change.traffic)},
                   {"axes", names_of(change.axes, answer.mesh)},
                   {"phase", shardplan::name_of(change.phase)},
                   {"found", json_traffic(change.found)},
                   {"expected", json_traffic(change.expected)},
                   {"extra", json_tensors(change.extra)},
                   {"missing", json_tensors(change.missing)}});
  }
  return all;
}

}  // namespace

std::string audit_json(const AuditAnswer& answer) {
  const bool compared = !answer.against.empty();
  OrderedJson document = {{"schema_version", schema_version},
                          {"command", "audit"},
                          {"program", answer.program},
                          {"against", compared ? OrderedJson(answer.against) : OrderedJson()},
                          {"hardware", answer.hardware.empty() ? OrderedJson() : OrderedJson(answer.hardware)},
                          {"mesh", json_mesh(answer.mesh)},
                          {"findings", json_findings(answer.findings)},
                          {"changes", compared ? json_changes(answer) : OrderedJson::array()},
                          {"collectives", json_found(answer)},
                          {"expected", json_collectives(answer.expected, answer.mesh)},
                          {"verdict", answer.is_regression() ? "regression" : "ok"}};
  if (answer.timeline) document["timeline"] = json_timeline(*answer.timeline, answer.expected_step, answer.mesh);
  return print_document(document);
}

}  // namespace shardplan
