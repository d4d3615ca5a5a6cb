#include <audit/timeline/span_recorder.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

Lane lane_of(Engine engine) {
  switch (engine) {
    case Engine::compute:
      return Lane::compute;
    case Engine::copies:
      return Lane::copies;
    case Engine::host_copies:
      return Lane::host_copies;
    case Engine::offload:
      return Lane::offload;
  }
  throw InternalError("unknown Engine");
}

void SpanRecorder::note(Lane lane, TracedKind kind, const std::string& name, std::int64_t executions, double begin,
                        double end) {
  if (on_ && begin < end)
    spans_.push_back({lane, kind, name, executions, {Seconds{position(begin)}, Seconds{position(end)}}});
}

void SpanRecorder::note_loop(const std::string& name, std::int64_t executions, double begin_position, double end) {
  if (on_ && begin_position < position(end))
    spans_.push_back({Lane::loops, TracedKind::loop, name, executions, {Seconds{begin_position}, Seconds{position(end)}}});
}

}  // namespace shardplan
