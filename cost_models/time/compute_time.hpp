#pragma once
// Seconds of compute by roofline: a kernel takes as long as the slower of its arithmetic and its HBM traffic
// (Williams, Waterman, Patterson, "Roofline", CACM 2009).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/hardware.hpp>

namespace shardplan {

/// Seconds of one run of a block's body on one device.
struct ComputeTime {
  Seconds forward;     ///< first run
  Seconds recomputed;  ///< what the backward pass computes again
  Seconds backward;    ///< gradients
};

/// One kernel. The first term is the share of peak that such kernels reach in practice, measured (hardware/profiles).
///   matmul     max(flops / (peak · matmul efficiency), traffic / HBM)
///   attention  max(flops / (peak · attention efficiency), traffic / HBM)
///   vector     traffic / HBM
/// Of a product that multiplies in fewer bits (OperationWork::narrow_dtype) that part runs at the peak of its type, and
/// narrowing its operands adds their traffic.
Seconds kernel_time(WorkKind kind, Flops flops, Bytes traffic, const HardwareProfile& hardware);

/// traffic / (HBM bandwidth · HBM efficiency)
Seconds traffic_time(Bytes traffic, const HardwareProfile& hardware);

ComputeTime compute_time(const PartitionedBlock& block, const HardwareProfile& hardware);

}  // namespace shardplan
