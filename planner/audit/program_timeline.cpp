#include <algorithm>
#include <audit/hlo/op_name.hpp>
#include <audit/program_traffic.hpp>
#include <planner/audit/program_timeline.hpp>

namespace shardplan {
namespace {

OpenRules rules_of(const Compiler& compiler) { return {compiler.overlap.asynchronous, compiler.overlap.window}; }

OpenRules everything_hides() {
  OpenRules rules;
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                          CollectiveKind::all_to_all, CollectiveKind::ragged_all_to_all,
                          CollectiveKind::collective_permute})
    rules.asynchronous.set(kind, true);
  return rules;
}

TimedCollective timed(const TimelineCollective& found, const HloProgram& program, const Mesh& mesh) {
  const HloCollective& instruction = program.computations[found.computation].collectives[found.collective];
  TimedCollective timed;
  NamedCollective& c = timed.collective;
  static_cast<Collective&>(c) =
      collective_of(program, instruction, axes_of(program.groups[instruction.groups], mesh), mesh);
  c.executions = found.executions;
  c.seconds = found.seconds;
  c.exposed = found.exposed;
  c.op = source_operation(instruction.op_name);
  timed.instruction = instruction.name;
  timed.loop = found.loop;
  timed.asynchronous = found.asynchronous;
  timed.window = found.window;
  return timed;
}

}  // namespace

ProgramTimeline time_program(const ScheduledProgram& scheduled, const Machine& machine, const Compiler& compiler,
                             const Mesh& mesh, LinkPrices& links) {
  const auto& [program, schedule] = scheduled;
  const StepPrices prices = price_steps(program, schedule, machine.hardware, compiler, mesh, links);
  ProgramTimeline result;
  result.timeline = walk(program, schedule, prices, rules_of(compiler));
  result.low = std::min(walk(program, schedule, prices, everything_hides()).seconds, result.timeline.seconds);
  result.high = std::max(walk(program, schedule, prices, {}).seconds, result.timeline.seconds);
  for (const auto& found : result.timeline.collectives) result.collectives.push_back(timed(found, program, mesh));
  std::stable_sort(result.collectives.begin(), result.collectives.end(), [](const auto& a, const auto& b) {
    return a.collective.exposed > b.collective.exposed;
  });
  return result;
}

}  // namespace shardplan
