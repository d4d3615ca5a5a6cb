#include <planner/report/json/json_values.hpp>
#include <planner/report/validate_report.hpp>

namespace shardplan {
namespace {

OrderedJson json_errors(const RecordErrors& errors) {
  return {{"collectives", json_number(errors.collectives, "error of collectives")},
          {"phases", json_number(errors.phases, "error of phases")},
          {"memory", json_number(errors.memory, "error of memory")}};
}

OrderedJson json_records(const std::vector<AblatedRecord>& records) {
  OrderedJson all = OrderedJson::array();
  for (const auto& record : records) {
    OrderedJson value = {{"id", record.id}, {"with", json_errors(record.with)}};
    if (record.failure)
      value["failed"] = *record.failure;
    else
      value["without"] = json_errors(record.without);
    all.push_back(std::move(value));
  }
  return all;
}

}  // namespace

std::string ablation_json(const std::vector<AblatedHabit>& habits) {
  OrderedJson all = OrderedJson::array();
  for (const auto& habit : habits)
    all.push_back({{"habit", name_of(habit.habit)},
                   {"programs", habit.programs},
                   {"worse", json_records(habit.worse)},
                   {"better", json_records(habit.better)}});
  return print_document({{"schema_version", schema_version}, {"command", "validate"}, {"habits", std::move(all)}});
}

}  // namespace shardplan
