#include <planner/cli/flags/trace_flag.hpp>
#include <planner/report/json/timeline/json_trace.hpp>

namespace shardplan {

void add_trace_flag(CommandParser& parser, std::optional<std::string>& path) {
  parser.add_side_file("--trace", path, "Write what runs when as a trace, too: for ui.perfetto.dev or xprof");
}

Answer with_trace(Answer answer, const std::string& path, const std::vector<TraceProcess>& processes) {
  answer.files.push_back({path, trace_json(processes)});
  return answer;
}

}  // namespace shardplan
