#include <algorithm>
#include <cost_models/time/compute_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

FlopsPerSecond share_of_peak(const Figure& efficiency, const HardwareProfile& hardware) {
  return {hardware.peak_bf16.value * efficiency.value};
}

}  // namespace

Seconds traffic_time(Bytes traffic, const HardwareProfile& hardware) {
  return traffic / BytesPerSecond{hardware.hbm_bandwidth.value * hardware.hbm_efficiency.value};
}

// On 100 TFLOP/s and 1 TB/s: a product of 1 TFLOP that moves 5 GB takes max(10 ms, 5 ms) = 10 ms.
Seconds kernel_time(WorkKind kind, Flops flops, Bytes traffic, const HardwareProfile& hardware) {
  const Seconds moving = traffic_time(traffic, hardware);
  switch (kind) {
    case WorkKind::matmul:
      return std::max(flops / share_of_peak(hardware.matmul_efficiency, hardware), moving);
    case WorkKind::attention:
      return std::max(flops / share_of_peak(hardware.attention_efficiency, hardware), moving);
    case WorkKind::vector:
      return moving;
  }
  throw InternalError("unknown WorkKind");
}

ComputeTime compute_time(const PartitionedBlock& block, const HardwareProfile& hardware) {
  ComputeTime time;
  for (const auto& work : block.work) {
    const Seconds forward = kernel_time(work.kind, work.forward, work.forward_traffic, hardware);
    time.forward += forward;
    if (work.recomputed) time.recomputed += forward;
    time.backward += kernel_time(work.kind, work.backward, work.backward_traffic, hardware);
  }
  return time;
}

}  // namespace shardplan
