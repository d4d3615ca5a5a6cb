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

/// JAX's name of a collective; of one that has none its caller's.
std::string op_name_of(const HloProgram& program, std::size_t computation, const std::string& own) {
  if (!own.empty()) return own;
  for (std::size_t caller = 0; caller < program.computations.size(); ++caller)
    for (const auto& call : program.computations[caller].calls)
      if (call.callee == computation) return op_name_of(program, caller, call.op_name);
  return "";
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
  const std::string op_name = op_name_of(program, found.computation, instruction.op_name);
  c.phase = phase_of(op_name);
  c.op = source_operation(op_name);
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
  result.timeline = trace(program, schedule, prices, rules_of(compiler));
  result.low = std::min(walk(program, schedule, prices, everything_hides()).seconds, result.timeline.seconds);
  result.high = std::max(walk(program, schedule, prices, {}).seconds, result.timeline.seconds);
  for (const auto& found : result.timeline.collectives) result.collectives.push_back(timed(found, program, mesh));
  std::stable_sort(result.collectives.begin(), result.collectives.end(), [](const auto& a, const auto& b) {
    return a.collective.exposed > b.collective.exposed;
  });
  return result;
}

}  // namespace shardplan
