#include <fmt/format.h>

#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/overlap.hpp>
#include <cost_models/time/step_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// The loop bodies of one block, all their runs in a step together.
struct BlockTime {
  const Block* block;
  BodyTime forward, backward;
  ComputeSeconds parts;  ///< of both
};

std::vector<BlockTime> block_compute(const StepWork& work) {
  std::vector<BlockTime> times;
  for (const auto& partitioned : work.blocks) {
    const ComputeTime once = compute_time(partitioned, work.hardware, work.compiler);
    const double runs = static_cast<double>(partitioned.block->executions);
    BlockTime time{partitioned.block, {}, {}, {}};
    time.parts = (once.forward + once.recomputed + once.backward) * runs;
    time.forward.compute = once.forward.total() * runs;
    time.backward.compute = (once.recomputed + once.backward).total() * runs;
    times.push_back(time);
  }
  return times;
}

/// A weight that moves less often than its block runs does so before or after the loop (pipeline_fsdp_ag_once, the
/// head's weights under gradient accumulation): no layer's compute is at hand.
bool is_outside_loop(const Collective& collective, const Block& block) {
  return collective.parameter && collective.executions < block.executions;
}

/// A step's time by where it is spent: the bodies of each block, the update, and what belongs to no block.
class Step {
 public:
  explicit Step(const StepWork& work) : work_(work), blocks_(block_compute(work)) {
    update_.compute = vector_time(work.update, work.hardware);
    for (const auto& collective : work.collectives) add(collective);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].forward.host = host_time(work.host.activations[i]);
      blocks_[i].backward.host = host_time(work.host.activations[i]);
    }
    update_.host = host_time(work.host.optimizer) * 2;
  }

  StepTime total() const {
    StepTime total;
    add_to(total, update_, 0);
    add_to(total, outside_, 0);
    total.parts.optimizer = update_.compute;
    for (const auto& [block, forward, backward, parts] : blocks_) {
      const double idle = block->in_pipeline ? bubble_share(work_.program.pipeline) : 0;
      add_to(total, forward, idle);
      add_to(total, backward, idle);
      total.parts += parts * (1 - idle);
    }
    return total;
  }

 private:
  void add(const Collective& collective) {
    BodyTime& body = body_of(collective);
    const double waiting = synchronous_share(collective, work_.program.pipeline, work_.compiler.overlap);
    body.synchronous += collective.seconds * waiting;
    body.asynchronous += collective.seconds * (1 - waiting);
  }

  /// Recomputation and gradients are one body: XLA compiles them into one loop, and a weight that it gathers for the
  /// recomputation may be the gradient's to wait for.
  BodyTime& body_of(const Collective& collective) {
    if (collective.phase == Phase::optimizer) return update_;
    if (collective.block < 0 || collective.block >= static_cast<BlockId>(blocks_.size()))
      throw InternalError(fmt::format("a {} of no block of the program", name_of(collective.kind)));
    auto& time = blocks_[collective.block];
    if (is_outside_loop(collective, *time.block)) return outside_;
    return collective.phase == Phase::forward ? time.forward : time.backward;
  }

  Seconds host_time(Bytes bytes) const {
    if (bytes.value == 0) return {};
    const auto& link = work_.hardware.host_link_bandwidth;
    if (!link) throw InternalError(work_.hardware.name + " has no host_link_bandwidth for what is offloaded");
    return bytes / BytesPerSecond{link->value};
  }

  static void add_to(StepTime& total, const BodyTime& body, double idle) {
    total.compute += body.compute * (1 - idle);
    total.exposed_collective += body.exposed() * (1 - idle);
    total.hidden_collective += body.hidden();
    total.exposed_host += body.exposed_host() * (1 - idle);
    total.hidden_host += body.host - body.exposed_host();
    total.bubble += (body.compute + body.exposed() + body.exposed_host()) * idle;
  }

  const StepWork& work_;
  std::vector<BlockTime> blocks_;
  BodyTime update_, outside_;
};

}  // namespace

// 4 stages, 8 microbatches: 11 iterations, of which 3 find the stage empty: 3/11.
double bubble_share(const PipelineShape& pipeline) {
  if (pipeline.stages <= 1) return 0;
  const std::int64_t useful = pipeline.microbatches * pipeline.repeats;
  return static_cast<double>(pipeline.iterations() - useful) / static_cast<double>(pipeline.iterations());
}

StepTime step_time(const StepWork& work) {
  StepTime time = Step(work).total();
  const double step = time.step().value, devices = static_cast<double>(work.devices);
  if (!(step > 0)) throw InternalError("a step that takes no time");
  time.tokens_per_second_per_device = work.tokens / (step * devices);
  time.model_flops_utilization = work.model_flops.value / (step * devices * work.hardware.peak_bf16.value);
  return time;
}

}  // namespace shardplan
