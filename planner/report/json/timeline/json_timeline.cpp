#include <planner/report/json/timeline/json_timeline.hpp>

namespace shardplan {
namespace {

OrderedJson json_collective(const TimedCollective& timed, const Mesh& mesh) {
  const NamedCollective& c = timed.collective;
  return {{"op", c.op},
          {"kind", name_of(c.kind)},
          {"phase", name_of(c.phase)},
          {"axes", names_of(c.axes, mesh)},
          {"bytes", c.bytes.value},
          {"executions", c.executions},
          {"instruction", timed.instruction},
          {"loop", timed.loop.empty() ? OrderedJson() : OrderedJson(timed.loop)},
          {"asynchronous", timed.asynchronous},
          {"seconds", json_seconds(c.seconds)},
          {"window_seconds", json_seconds(timed.window)},
          {"exposed_seconds", json_seconds(c.exposed)}};
}

OrderedJson json_loop(const TimelineLoop& loop) {
  return {{"loop", loop.name},
          {"depth", loop.depth},
          {"runs", loop.runs},
          {"seconds", json_seconds(loop.seconds)},
          {"compute_seconds", json_seconds(loop.compute)},
          {"exposed_collective_seconds", json_seconds(loop.exposed)}};
}

}  // namespace

OrderedJson json_timeline(const ProgramTimeline& of_program, std::optional<Seconds> expected_step, const Mesh& mesh) {
  const Timeline& timeline = of_program.timeline;
  OrderedJson collectives = OrderedJson::array(), loops = OrderedJson::array(), unknown = OrderedJson::array();
  for (const auto& timed : of_program.collectives) collectives.push_back(json_collective(timed, mesh));
  for (const auto& loop : timeline.loops) loops.push_back(json_loop(loop));
  for (const auto& kernel : timeline.unknown)
    unknown.push_back({{"kernel", kernel.name}, {"seconds", json_seconds(kernel.seconds)}});
  return {{"step_seconds", json_seconds(timeline.seconds)},
          {"compute_seconds", json_seconds(timeline.compute)},
          {"exposed_collective_seconds", json_seconds(timeline.exposed)},
          {"exposed_copy_seconds", json_seconds(timeline.waited)},
          {"compute",
           {{"product_seconds", json_seconds(timeline.kernels.product)},
            {"grouped_product_seconds", json_seconds(timeline.kernels.grouped_product)},
            {"attention_seconds", json_seconds(timeline.kernels.attention)},
            {"vector_seconds", json_seconds(timeline.kernels.vector)},
            {"contention_seconds", json_seconds(timeline.kernels.contention)}}},
          {"range", {{"low_seconds", json_seconds(of_program.low)}, {"high_seconds", json_seconds(of_program.high)}}},
          {"expected_step_seconds", expected_step ? json_seconds(*expected_step) : OrderedJson()},
          {"loops", std::move(loops)},
          {"unknown_kernels", std::move(unknown)},
          {"uncounted_loops", timeline.uncounted_loops},
          {"collectives", std::move(collectives)}};
}

}  // namespace shardplan
