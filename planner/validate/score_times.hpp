#pragma once
// Predicted against measured steps: log(predicted throughput / measured), above 0 where the prediction is too fast.
#include <planner/validate/measured_run.hpp>

namespace shardplan {

enum class RunKind : std::uint8_t { dense, mixture, quantized, long_context };
std::string_view name_of(RunKind kind);  ///< "mixture of experts"

struct TimedRun {
  std::string id, machine;
  RunKind kind = RunKind::dense;  ///< long from 32,768 tokens on; quantized before mixture
  double ratio = 1;               ///< predicted throughput over measured
  double step_seconds = 0;        ///< predicted
  double log_error() const;
};

inline constexpr std::size_t enough_runs = 20;

/// Of several runs.
struct TimeError {
  std::string of;  ///< "tpu-v6e", "dense", "all"
  int runs = 0, within_15_percent = 0;
  double mean = 0;  ///< of |log error|
  double bias = 0;  ///< of log error
  /// What measured steps were of predicted ones, less 1, rounded outwards to 0.1%: the extremes, from
  /// enough_runs on the 5th and the 95th percentile. At most 0, at least 0.
  double low = 0, high = 0;
};

struct TimeScore {
  std::vector<TimedRun> runs;           ///< the furthest off first
  std::vector<TimeError> by_machine, by_kind;
  TimeError all;
};

/// Every run is costed with the XLA flags of its recipe. Throws InputError on arguments that aren't modelled.
TimeScore score_times(const std::vector<MeasuredRun>& runs);

}  // namespace shardplan
