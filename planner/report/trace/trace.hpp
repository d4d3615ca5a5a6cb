#pragma once
// What runs when, as processes of tracks of events that a trace viewer draws (json/json_trace.hpp writes them).
#include <planner/audit/audit.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/answer/step_timeline.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace shardplan {

struct TraceEvent {
  std::size_t track = 0;  ///< of its process
  std::string name, category;
  TimeSpan span;
  double times = 1;  ///< that it happens in a step: loops are drawn once
  std::vector<std::pair<std::string, std::variant<double, std::int64_t, std::string>>> arguments = {};
};

/// Its step takes the sum of each event's length times its `times`, of any one of the tracks that have them all.
struct TraceProcess {
  std::string name;
  std::vector<std::string> tracks;
  std::vector<TraceEvent> events;
};

/// Tracks: the step's loops, the compute stream with its waits, the network, and the link to the host where it is used.
/// Needs Evaluation::timeline.
TraceProcess plan_trace(const Evaluation& evaluation);

/// The same of a compiled program, with a track for each engine that it uses. Needs AuditAnswer::timeline.
TraceProcess program_trace(const AuditAnswer& answer);

}  // namespace shardplan
