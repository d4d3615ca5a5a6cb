#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/report/trace/trace.hpp>
#include <planner/words/collective_words.hpp>
#include <planner/words/timeline_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

enum PlanTrack : std::size_t { loops, compute, network, host };

class PlanTrace {
 public:
  explicit PlanTrace(const Evaluation& e) : evaluation_(e), collectives_(named_collectives(e)) {
    process_.name = fmt::format("{} on {} of {}: {}", e.model, counted(e.chips, "chip"), e.hardware, describe(e.mesh));
    process_.tracks = {"step", "compute", "network"};
  }

  TraceProcess of(const StepTimeline& timeline) {
    for (const TimedBody& body : timeline.bodies) add(body);
    return std::move(process_);
  }

 private:
  void add(const TimedBody& body) {
    runs_ = body.runs;
    add_event(loops, body_in_words(body, *evaluation_.laid_out), std::string(name_of(body.kind)), {{}, body.length()},
              {{"runs", body.runs}, {"empty_runs", body.empty_runs}, {"seconds", body.length().value * body.runs}});
    for (const TimedKernel& kernel : body.kernels)
      add_event(compute, kernel_in_words(kernel, body, *evaluation_.laid_out), std::string(name_of(kernel.part)),
                kernel.span, {});
    for (const TimedMove& wait : body.waits)
      add_event(compute, "waits for " + title(wait), "exposed", wait.span, arguments_of(wait));
    for (const TimedMove& move : body.moves) add_event(network, title(move), "collective", move.span, arguments_of(move));
    add_host(body);
    begin_ += body.length();
  }

  void add_host(const TimedBody& body) {
    if (body.host.value <= 0) return;
    if (process_.tracks.size() == host) process_.tracks.emplace_back("host link");
    add_event(host, "copies to and from the host", "copy", {{}, body.host}, {});
    if (body.exposed_host.value > 0)
      add_event(compute, "waits for copies to and from the host", "exposed",
                {body.length() - body.exposed_host, body.length()}, {});
  }

  /// "all-gather over fsdp"; of combined ones the kind and axes that they share.
  std::string title(const TimedMove& move) const { return collective_in_words(first(move), evaluation_.mesh); }

  const NamedCollective& first(const TimedMove& move) const { return collectives_.at(move.collectives.front()); }

  using Arguments = decltype(TraceEvent::arguments);

  Arguments arguments_of(const TimedMove& move) const {
    std::vector<std::string> places;
    Bytes bytes;
    for (const std::size_t i : move.collectives) {
      places.push_back(collectives_.at(i).op);
      bytes += collectives_.at(i).bytes;
    }
    return {{"op", fmt::format("{}", fmt::join(places, ", "))}, {"why", first(move).why}, {"bytes", bytes.value}};
  }

  void add_event(PlanTrack track, std::string name, std::string category, TimeSpan span, Arguments arguments) {
    process_.events.push_back({track, std::move(name), std::move(category), {begin_ + span.begin, begin_ + span.end}, runs_,
                               std::move(arguments)});
  }

  const Evaluation& evaluation_;
  std::vector<NamedCollective> collectives_;
  TraceProcess process_;
  Seconds begin_;    ///< of the body
  double runs_ = 1;  ///< of it
};

}  // namespace

TraceProcess plan_trace(const Evaluation& evaluation) {
  if (!evaluation.timeline) throw InternalError("a trace of an evaluation without its timeline");
  return PlanTrace(evaluation).of(*evaluation.timeline);
}

}  // namespace shardplan
