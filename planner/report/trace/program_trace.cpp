#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <planner/report/trace/trace.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::array<std::pair<Lane, const char*>, 6> lanes = {{{Lane::loops, "loops"},
                                                                {Lane::compute, "compute"},
                                                                {Lane::network, "network"},
                                                                {Lane::copies, "copies"},
                                                                {Lane::host_copies, "host link"},
                                                                {Lane::offload, "SparseCore"}}};

std::string_view category_of(TracedKind kind) {
  switch (kind) {
    case TracedKind::kernel:
      return "kernel";
    case TracedKind::transfer:
      return "collective";
    case TracedKind::exposed_transfer:
    case TracedKind::exposed_copy:
      return "exposed";
    case TracedKind::copy:
      return "copy";
    case TracedKind::loop:
      return "loop";
  }
  throw InternalError("unknown TracedKind");
}

/// What the program says of its collectives, by instruction.
std::map<std::string, const TimedCollective*> by_instruction(const ProgramTimeline& timeline) {
  std::map<std::string, const TimedCollective*> known;
  for (const TimedCollective& timed : timeline.collectives) known.emplace(timed.instruction, &timed);
  return known;
}

std::string title(const TracedSpan& span) {
  const bool waits = span.kind == TracedKind::exposed_transfer || span.kind == TracedKind::exposed_copy;
  return waits ? "waits for " + span.name : span.name;
}

}  // namespace

TraceProcess program_trace(const AuditAnswer& answer) {
  if (!answer.timeline) throw InternalError("a trace of an audit without its timeline");
  const auto& spans = answer.timeline->timeline.trace;
  const auto known = by_instruction(*answer.timeline);
  TraceProcess process{std::filesystem::path(answer.program).filename().string(), {}, {}};
  std::map<Lane, std::size_t> tracks;
  for (const auto& [lane, name] : lanes) {
    if (std::none_of(spans.begin(), spans.end(), [lane = lane](const TracedSpan& span) { return span.lane == lane; }))
      continue;
    tracks[lane] = process.tracks.size();
    process.tracks.emplace_back(name);
  }
  for (const TracedSpan& span : spans) {
    TraceEvent event{tracks.at(span.lane), title(span), std::string(category_of(span.kind)), span.span,
                     static_cast<double>(span.executions)};
    if (const auto found = known.find(span.name); found != known.end())
      event.arguments = {{"op", found->second->collective.op}, {"bytes", found->second->collective.bytes.value}};
    process.events.push_back(std::move(event));
  }
  return process;
}

}  // namespace shardplan
