#include <planner/report/json/timeline/json_step_timeline.hpp>
#include <planner/words/timeline_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

OrderedJson json_moves(const std::vector<TimedMove>& moves) {
  OrderedJson all = OrderedJson::array();
  for (const TimedMove& move : moves)
    all.push_back({{"collectives", move.collectives},
                   {"begin_seconds", json_seconds(move.span.begin)},
                   {"end_seconds", json_seconds(move.span.end)}});
  return all;
}

OrderedJson json_body(const TimedBody& body, const LaidOutProgram& program) {
  OrderedJson kernels = OrderedJson::array();
  for (const TimedKernel& kernel : body.kernels)
    kernels.push_back({{"name", kernel_in_words(kernel, body, program)},
                       {"part", name_of(kernel.part)},
                       {"begin_seconds", json_seconds(kernel.span.begin)},
                       {"end_seconds", json_seconds(kernel.span.end)}});
  return {{"name", body_in_words(body, program)},
          {"kind", name_of(body.kind)},
          {"runs", json_number(body.runs, "runs")},
          {"empty_runs", json_number(body.empty_runs, "empty_runs")},
          {"run_seconds", json_seconds(body.length())},
          {"host_seconds", json_seconds(body.host)},
          {"exposed_host_seconds", json_seconds(body.exposed_host)},
          {"kernels", std::move(kernels)},
          {"moves", json_moves(body.moves)},
          {"waits", json_moves(body.waits)}};
}

}  // namespace

OrderedJson json_step_timeline(const Evaluation& evaluation) {
  if (!evaluation.timeline || !evaluation.laid_out) throw InternalError("a timeline without its program");
  OrderedJson bodies = OrderedJson::array();
  for (const TimedBody& body : evaluation.timeline->bodies) bodies.push_back(json_body(body, *evaluation.laid_out));
  return bodies;
}

}  // namespace shardplan
