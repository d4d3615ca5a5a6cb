#include <algorithm>
#include <cost_models/time/compute_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

FlopsPerSecond share_of_peak(const Figure& efficiency, const HardwareProfile& hardware) {
  return {hardware.peak_bf16.value * efficiency.value};
}

/// Where no share of the narrow peak is known, products reach that of the wide one. A machine without a peak runs no such
/// program (constraint `quantization`); its time is shown as if it multiplied wide numbers.
FlopsPerSecond narrow_rate(DType dtype, const HardwareProfile& hardware) {
  const auto& peak = narrow_peak(hardware, dtype);
  if (!peak) return share_of_peak(hardware.matmul_efficiency, hardware);
  const bool measured = dtype == DType::f8 && hardware.fp8_matmul_efficiency;
  return {peak->value * (measured ? *hardware.fp8_matmul_efficiency : hardware.matmul_efficiency).value};
}

/// A kernel of which `narrow` of the products multiply in fewer bits, after their operands were narrowed. On 100 TFLOP/s
/// wide and 200 narrow: 3 TFLOP, 2 of them narrow, take 10 + 10 ms.
Seconds work_time(const OperationWork& work, Flops flops, Flops narrow, Bytes traffic, Bytes narrowing,
                  const HardwareProfile& hardware) {
  if (narrow.value == 0) return kernel_time(work.kind, flops, traffic, hardware);
  const Seconds wide = (flops - narrow) / share_of_peak(hardware.matmul_efficiency, hardware);
  const Seconds multiplying = wide + narrow / narrow_rate(work.narrow_dtype, hardware);
  return std::max(multiplying, traffic_time(traffic, hardware)) + traffic_time(narrowing, hardware);
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
    const Seconds forward = work_time(work, work.forward, work.narrow_forward, work.forward_traffic,
                                      work.narrowing_forward, hardware);
    time.forward += forward;
    if (work.recomputed) time.recomputed += forward;
    time.backward += work_time(work, work.backward, work.narrow_backward, work.backward_traffic,
                               work.narrowing_backward, hardware);
  }
  return time;
}

}  // namespace shardplan
