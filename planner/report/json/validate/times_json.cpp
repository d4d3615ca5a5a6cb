#include <planner/report/json/json_values.hpp>
#include <planner/report/validate_report.hpp>

namespace shardplan {
namespace {

OrderedJson json_error(const TimeError& error) {
  return {{"of", error.of},
          {"runs", error.runs},
          {"mean_abs_log_error", json_number(error.mean, "mean_abs_log_error")},
          {"mean_log_error", json_number(error.bias, "mean_log_error")},
          {"within_15_percent", error.within_15_percent},
          {"step_error", {{"low", error.low}, {"high", error.high}}}};
}

OrderedJson json_errors(const std::vector<TimeError>& errors) {
  OrderedJson all = OrderedJson::array();
  for (const TimeError& error : errors) all.push_back(json_error(error));
  return all;
}

}  // namespace

std::string times_json(const TimeScore& score) {
  OrderedJson runs = OrderedJson::array();
  for (const TimedRun& run : score.runs)
    runs.push_back({{"id", run.id},
                    {"hardware", run.machine},
                    {"kind", name_of(run.kind)},
                    {"step_seconds", json_number(run.step_seconds, "step_seconds")},
                    {"predicted_over_measured", json_number(run.ratio, "predicted_over_measured")}});
  return print_document({{"schema_version", schema_version},
                         {"command", "validate"},
                         {"times", {{"runs", std::move(runs)},
                                    {"by_hardware", json_errors(score.by_machine)},
                                    {"by_kind", json_errors(score.by_kind)},
                                    {"all", json_error(score.all)}}}});
}

}  // namespace shardplan
