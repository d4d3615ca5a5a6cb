#pragma once
// What a walk through a schedule comes to: when each collective is issued and waited for, and how long the device computes
// and waits in a step.
#include <audit/timeline/hlo_schedule.hpp>
#include <cstdint>
#include <shardplan/answer/step_timeline.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// All executions of one instruction in a step. In 10 executions of 2 ms behind 1.5 ms of kernels each: 20 ms, a window
/// of 15, 5 exposed.
struct TimelineCollective {
  std::size_t computation = 0, collective = 0;  ///< HloProgram::computations, HloComputation::collectives
  std::string loop;                             ///< the innermost that it is in; empty: none
  std::int64_t executions = 0;
  bool asynchronous = false;  ///< by its halves
  Seconds seconds;            ///< on its links, alone
  Seconds window;             ///< of kernels between issue and first use
  Seconds exposed;            ///< for which the device waits while it is on the network, for it or for one behind it
};

/// All runs of a loop's body in a step, loops inside it included.
struct TimelineLoop {
  std::string name;
  int depth = 0;  ///< loops around it
  std::int64_t runs = 0;
  Seconds seconds, compute, exposed;
};

/// Of the kernels that run on the compute stream.
struct KernelSeconds {
  Seconds product, grouped_product, attention;
  Seconds vector;  ///< everything else
  Seconds contention;  ///< what all these take longer beside collectives
  Seconds& of(KernelKind kind);
};

/// Kernels that are priced by what they read and write because nothing else is known of them.
struct UnknownKernel {
  std::string name;
  Seconds seconds;  ///< of all executions
};

/// Where something of the walk runs.
enum class Lane : std::uint8_t { loops, compute, network, copies, host_copies, offload };

enum class TracedKind : std::uint8_t {
  kernel,
  transfer,          ///< of a collective, or of several that are issued together, on the network
  exposed_transfer,  ///< on the compute stream: it waits for one
  exposed_copy,      ///< likewise, for a copy or another engine
  copy,              ///< a kernel of another engine
  loop,              ///< a run of a loop's body
};

/// Times as if a loop ran twice: its first run, and one that stands for all others.
struct TracedSpan {
  Lane lane = Lane::compute;
  TracedKind kind = TracedKind::kernel;
  std::string name;             ///< of the instruction
  std::int64_t executions = 1;  ///< that it stands for
  TimeSpan span;
};

/// seconds = compute + exposed + waited
struct Timeline {
  Seconds seconds, compute, exposed;
  Seconds waited;  ///< for copies and other engines
  KernelSeconds kernels;  ///< of compute
  std::vector<TimelineCollective> collectives;  ///< in the order of the program
  std::vector<TimelineLoop> loops;              ///< outer ones first
  std::vector<UnknownKernel> unknown;
  std::vector<TracedSpan> trace;  ///< where it was asked for: what runs on the compute lane adds up to `seconds`
  std::vector<std::string> uncounted_loops;  ///< counted once: nobody knows their trips, and they don't communicate
};

}  // namespace shardplan
