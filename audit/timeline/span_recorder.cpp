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
  if (on_ && begin < end) spans_.push_back({lane, kind, name, executions, {{begin - skipped_}, {end - skipped_}}});
}

}  // namespace shardplan
