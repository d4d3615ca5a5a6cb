#pragma once
// Seconds of compute: each operation's kernel, and the vector work beside it.
//   dense product    from its shape (product_time.hpp)
//                    and what is fused into it by its share of what it would take alone (fused_share)
//   grouped product  by its tiles where the machine has kernels for it (grouped/grouped_time.hpp); else the same share of
//                    peak as a large dense one, on whole row tiles
//   attention        the cycles of splash attention's blocks (splash_time.hpp); else max(flops / (peak · the kernel's
//                    share of it), traffic / HBM)
//   vector work      max(passes / pass rate + operands / operand rate, traffic / HBM); the first where the machine has
//                    such rates (TPUs, whose compiler states the cycles of elementwise kernels)
//   bias gradients   of experts, as additions to one place (row_sums_time.hpp)
// All but the traffic grows as the clock is slower (clock_share.hpp). traffic / HBM is a roofline (Williams, Waterman,
// Patterson, "Roofline", CACM 2009).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Seconds of one run of one operation on one device. Backward: the gradient of its left operand (of attention and
/// vector work: all of it), then of its right one.
struct OperationTime {
  ComputeSeconds forward, backward, backward_right;
};

/// traffic / (HBM bandwidth · HBM efficiency)
Seconds traffic_time(Bytes traffic, const HardwareProfile& hardware);

Seconds vector_time(const VectorWork& work, const HardwareProfile& hardware, const Compiler& compiler);

OperationTime operation_time(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler);

}  // namespace shardplan
