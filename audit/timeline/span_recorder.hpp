#pragma once
// Writes down what a walk does, where that is asked for.
#include <audit/timeline/hlo_schedule.hpp>
#include <audit/timeline/timeline.hpp>

namespace shardplan {

Lane lane_of(Engine engine);

class SpanRecorder {
 public:
  explicit SpanRecorder(bool on) : on_(on) {}
  /// From `begin` to `end` of the walk's clock; what takes no time is left out.
  void note(Lane lane, TracedKind kind, const std::string& name, std::int64_t executions, double begin, double end);
  /// Where the walk's clock stands in what is written down. Asked for when a loop begins: loops inside it skip runs.
  double position(double clock) const { return clock - skipped_; }
  void note_loop(const std::string& name, std::int64_t executions, double begin_position, double end);
  /// The walk's clock goes on without anything being walked.
  void skip(double seconds) { skipped_ += seconds; }
  std::vector<TracedSpan> take() { return std::move(spans_); }

 private:
  bool on_;
  double skipped_ = 0;
  std::vector<TracedSpan> spans_;
};

}  // namespace shardplan
