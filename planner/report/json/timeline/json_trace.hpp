#pragma once
// Trace event format (Trace Event Format, Google 2016), which ui.perfetto.dev, chrome://tracing and xprof open: complete
// events ("X") with ts and dur in microseconds, metadata ("M") that names processes and threads.
#include <planner/report/trace/trace.hpp>

namespace shardplan {

/// docs/schema/trace.json
std::string trace_json(const std::vector<TraceProcess>& processes);

}  // namespace shardplan
