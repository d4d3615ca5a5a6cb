#pragma once
// The step time of a compiled program from its own schedule.
#include <audit/timeline/schedule_reader.hpp>
#include <audit/timeline/timeline.hpp>
#include <planner/audit/price_steps.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/machine/machine.hpp>

namespace shardplan {

/// All executions of one instruction.
struct TimedCollective {
  NamedCollective collective;  ///< executions, seconds and exposed of the step; op: the source operation
  std::string instruction, loop;
  bool asynchronous = false;
  Seconds window;  ///< of all executions
};

struct ProgramTimeline {
  Timeline timeline;  ///< with its collectives in the order of the program
  /// Where the text leaves open what collectives run beside (XLA:TPU): if each hid behind all kernels of its computation
  /// that it doesn't wait for, and if none hid. Else both are the step.
  Seconds low, high;
  std::vector<TimedCollective> collectives;  ///< most exposed first
};

ProgramTimeline time_program(const ScheduledProgram& scheduled, const Machine& machine, const Compiler& compiler,
                             const Mesh& mesh, LinkPrices& links);

}  // namespace shardplan
