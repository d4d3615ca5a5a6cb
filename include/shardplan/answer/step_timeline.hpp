#pragma once
// When what runs on a device in one step of a plan, as its cost model schedules it: loop bodies one after the other, of
// each one run in the middle of its loop. Kernels follow each other on the compute stream, collectives on one network
// channel; copies to the host's memory and back have a link of their own.
#include <cstddef>
#include <cstdint>
#include <shardplan/program.hpp>
#include <shardplan/units.hpp>
#include <string_view>
#include <vector>

namespace shardplan {

struct TimeSpan {
  Seconds begin, end;
  Seconds length() const { return end - begin; }
};

enum class BodyKind : std::uint8_t {
  forward,
  backward,  ///< with what is computed again
  outside,   ///< collectives of weights that move before or behind the loops: nothing hides them
  update,
};
std::string_view name_of(BodyKind kind);

/// What a kernel computes of its operation.
enum class KernelPart : std::uint8_t {
  forward,
  again,            ///< the forward pass again, for the backward one
  gradient,         ///< of its first operand, or of all of them
  right_gradient,   ///< of its second operand: a weight's
  stacks,           ///< of no operation: the loop's stacks of what is saved
  update,           ///< of no operation: the optimizer
};
std::string_view name_of(KernelPart part);

struct TimedKernel {
  OperationId operation = -1;  ///< of the body's block
  KernelPart part = KernelPart::forward;
  TimeSpan span;
};

/// One collective, or several as one: indices into Evaluation::collectives. Of one that began in the run before, or ends
/// in the next, what lies in this run.
struct TimedMove {
  std::vector<std::size_t> collectives;
  TimeSpan span;
};

/// Spans are from the begin of the run.
struct TimedBody {
  BodyKind kind = BodyKind::forward;
  BlockId block = -1;       ///< in Program::blocks; -1: of none
  double runs = 1;          ///< in a step
  double empty_runs = 0;    ///< of them, those of a pipeline that work on nothing: its bubble
  Seconds host;             ///< copies to the host and back beside one run
  Seconds exposed_host;     ///< of them, what the run waits for at its end
  std::vector<TimedKernel> kernels;
  std::vector<TimedMove> moves;  ///< on the network
  std::vector<TimedMove> waits;  ///< of the compute stream, for that collective
  Seconds length() const;        ///< of one run: kernels + waits + exposed_host
};

/// In the order of the step.
struct StepTimeline {
  std::vector<TimedBody> bodies;
  Seconds seconds() const;  ///< of the step: each body's length times its runs
};

}  // namespace shardplan
