#include <cmath>
#include <planner/report/json/timeline/json_trace.hpp>
#include <planner/report/json/json_values.hpp>

namespace shardplan {
namespace {

/// Viewers count whole nanoseconds: lengths that were rounded by themselves would reach over the next event's begin, and
/// Perfetto drops what overlaps.
double nanoseconds(Seconds time) { return std::round(time.value * 1e9); }

/// The rest no viewer can draw: a program has copies that take nothing.
bool lasts(const TraceEvent& event) { return nanoseconds(event.span.end) > nanoseconds(event.span.begin); }

OrderedJson microseconds(double nanoseconds) { return json_number(nanoseconds / 1e3, "a trace's time"); }

OrderedJson metadata(const char* what, std::size_t process, std::size_t thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Viewers order threads by this, not by number.
OrderedJson place_of(std::size_t process, std::size_t thread) {
  return {{"ph", "M"}, {"name", "thread_sort_index"}, {"pid", process}, {"tid", thread}, {"args", {{"sort_index", thread}}}};
}

OrderedJson json_event(const TraceEvent& event, std::size_t process) {
  OrderedJson arguments = {{"times", event.times}};
  for (const auto& [name, value] : event.arguments)
    std::visit([&, name = name](const auto& inner) { arguments[name] = inner; }, value);
  return {{"ph", "X"},
          {"name", event.name},
          {"cat", event.category},
          {"pid", process},
          {"tid", event.track + 1},
          {"ts", microseconds(nanoseconds(event.span.begin))},
          {"dur", microseconds(nanoseconds(event.span.end) - nanoseconds(event.span.begin))},
          {"args", std::move(arguments)}};
}

}  // namespace

std::string trace_json(const std::vector<TraceProcess>& processes) {
  OrderedJson events = OrderedJson::array();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::size_t process = i + 1;
    events.push_back(metadata("process_name", process, 0, processes[i].name));
    for (std::size_t track = 0; track < processes[i].tracks.size(); ++track) {
      events.push_back(metadata("thread_name", process, track + 1, processes[i].tracks[track]));
      events.push_back(place_of(process, track + 1));
    }
    for (const TraceEvent& event : processes[i].events)
      if (lasts(event)) events.push_back(json_event(event, process));
  }
  return print_document({{"displayTimeUnit", "ms"},
                         {"otherData", {{"drawn", "loops once; args.times is how often it happens in a step"}}},
                         {"traceEvents", std::move(events)}});
}

}  // namespace shardplan
