#include <planner/report/json/json_values.hpp>
#include <planner/report/validate_report.hpp>

namespace shardplan {
namespace {

OrderedJson json_groups(const std::vector<GroupDifference>& groups) {
  OrderedJson all = OrderedJson::array();
  for (const auto& group : groups)
    all.push_back(
        {{"group", group.group}, {"predicted_bytes", group.predicted.value}, {"recorded_bytes", group.recorded.value}});
  return all;
}

OrderedJson json_score(const RecordScore& score) {
  OrderedJson value = {{"id", score.id}};
  if (score.failure) {
    value["failed"] = *score.failure;
  } else if (score.refused_too) {
    value["refused_too"] = *score.refused_too;
  } else {
    value["collectives"] = json_number(score.collectives, "error of collectives");
    value["phases"] = json_number(score.phases, "error of phases");
    value["memory"] = json_number(score.memory, "error of memory");
    value["arguments"] = json_number(score.arguments, "error of arguments");
    value["differs"] = json_groups(score.worst);
  }
  return value;
}

/// null where there is nothing to be off.
OrderedJson json_error(const ScoreSummary& s, double error, const char* what) {
  return s.scored == 0 ? OrderedJson() : OrderedJson(json_number(error, what));
}

OrderedJson json_summary(const ScoreSummary& s) {
  return {{"programs", s.programs},
          {"scored", s.scored},
          {"collectives_median_error", json_error(s, s.median_collectives, "median error")},
          {"collectives_within_5_percent", s.within_5_percent},
          {"memory_mean_error", json_error(s, s.mean_memory, "mean error")},
          {"memory_worst_error", json_error(s, s.worst_memory, "worst error")},
          {"refused", s.refused},
          {"refused_too", s.refused_too}};
}

}  // namespace

std::string validation_json(const Validation& validation) {
  OrderedJson programs = OrderedJson::array();
  for (const auto& score : validation.scores) programs.push_back(json_score(score));
  return print_document({{"schema_version", schema_version},
                         {"command", "validate"},
                         {"programs", std::move(programs)},
                         {"summary", json_summary(validation.summary)}});
}

}  // namespace shardplan
