#include <algorithm>
#include <arguments/read_configuration.hpp>
#include <cmath>
#include <map>
#include <planner/evaluate/evaluate.hpp>
#include <planner/validate/error_range.hpp>
#include <planner/validate/score_times.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t long_sequence = 32768;

RunKind kind_of(const Configuration& configuration) {
  if (configuration.config.max_target_length >= long_sequence) return RunKind::long_context;
  if (configuration.config.quantization != Quantization::none) return RunKind::quantized;
  return configuration.model.has_experts() ? RunKind::mixture : RunKind::dense;
}

TimedRun timed(const MeasuredRun& run) {
  const Configuration configuration = read_configuration(run.arguments, run.machine, std::nullopt);
  const StepTime time = evaluate(configuration).time;
  TimedRun result{run.id, configuration.hardware.name, kind_of(configuration), 1, time.step().value};
  result.ratio = run.step_seconds > 0 ? run.step_seconds / time.step().value
                                      : time.tokens_per_second_per_device / run.tokens_per_second_per_device;
  return result;
}

void add_range(TimeError& error, const std::vector<const TimedRun*>& runs) {
  std::vector<double> off;
  for (const TimedRun* run : runs) off.push_back(run->ratio - 1);
  const ErrorRange range = error_range(std::move(off), enough_runs);
  error.low = range.low;
  error.high = range.high;
}

TimeError error_of(std::string of, const std::vector<const TimedRun*>& runs) {
  TimeError error{.of = std::move(of), .runs = static_cast<int>(runs.size())};
  add_range(error, runs);
  for (const TimedRun* run : runs) {
    error.mean += std::abs(run->log_error()) / static_cast<double>(runs.size());
    error.bias += run->log_error() / static_cast<double>(runs.size());
    if (std::abs(run->log_error()) <= std::log(1.15)) ++error.within_15_percent;
  }
  return error;
}

template <class KeyOf>
std::vector<TimeError> errors_by(const std::vector<TimedRun>& runs, KeyOf key_of) {
  std::map<std::string, std::vector<const TimedRun*>> groups;
  for (const TimedRun& run : runs) groups[key_of(run)].push_back(&run);
  std::vector<TimeError> errors;
  for (const auto& [key, members] : groups) errors.push_back(error_of(key, members));
  return errors;
}

}  // namespace

double TimedRun::log_error() const { return std::log(ratio); }

std::string_view name_of(RunKind kind) {
  switch (kind) {
    case RunKind::dense:
      return "dense";
    case RunKind::mixture:
      return "mixture of experts";
    case RunKind::quantized:
      return "quantized";
    case RunKind::long_context:
      return "long context";
  }
  throw InternalError("unknown RunKind");
}

TimeScore score_times(const std::vector<MeasuredRun>& runs) {
  TimeScore score;
  for (const MeasuredRun& run : runs) score.runs.push_back(timed(run));
  std::stable_sort(score.runs.begin(), score.runs.end(), [](const TimedRun& a, const TimedRun& b) {
    return std::abs(a.log_error()) > std::abs(b.log_error());
  });
  score.by_machine = errors_by(score.runs, [](const TimedRun& run) { return run.machine; });
  score.by_kind = errors_by(score.runs, [](const TimedRun& run) { return std::string(name_of(run.kind)); });
  std::vector<const TimedRun*> all;
  for (const TimedRun& run : score.runs) all.push_back(&run);
  score.all = error_of("all", all);
  return score;
}

}  // namespace shardplan
