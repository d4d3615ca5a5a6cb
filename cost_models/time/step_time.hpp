#pragma once
// The seconds of one train step on the slowest (that is, any) device:
//   step = compute + exposed communication + exposed host copies + pipeline bubble
// Each block is two loop bodies, forward and backward; what of their collectives is exposed, the schedule of one run
// says (body_schedule.hpp). Of a pipelined block, (iterations - microbatches·repeats) of `iterations` runs work on
// nothing: the bubble. What moves to the host's memory and back has a channel of its own and hides behind the compute of
// the same body; the optimizer's state behind the update alone, in and out one after the other.
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/partition/partitioned_block.hpp>
#include <cost_models/time/schedule/known_bodies.hpp>
#include <cstdint>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

struct StepWork {
  const std::vector<PartitionedBlock>& blocks;
  const std::vector<Collective>& collectives;  ///< of the whole step, priced
  const Program& program;
  const Compiler& compiler;
  const HardwareProfile& hardware;
  const HostTraffic& host;  ///< needs HardwareProfile::host_link_bandwidth where it isn't empty
  VectorWork update;        ///< of the parameters on one device
  Flops model_flops;        ///< useful FLOPs of a step, all devices (models/model_flops.hpp)
  double tokens = 0;        ///< of a step, all devices
  std::int64_t devices = 1;
  std::vector<OperationWork> update_products = {};  ///< muon's, of all runs of each
  KnownBodies* known = nullptr;  ///< of the step under other remat policies
};

struct ScheduledStep {
  StepTime time;
  std::vector<Seconds> exposed;  ///< of each collective, all its executions
};

/// Throws InternalError when the step takes no time or a collective is of none of the blocks.
ScheduledStep schedule_step(const StepWork& work);

/// When everything of it runs; as many seconds as schedule_step says. Beside it for those few steps that are shown.
StepTimeline place_step(const StepWork& work);

/// (iterations - microbatches·repeats) / iterations; 0 without a pipeline.
double bubble_share(const PipelineShape& pipeline);

}  // namespace shardplan
