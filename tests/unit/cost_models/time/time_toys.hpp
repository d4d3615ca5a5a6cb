#pragma once
// A machine whose prices can be checked in the head: 100 TFLOP/s, 1 TB/s of HBM, everything reached in full.
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Ragged all-to-alls keep the device waiting; the others run beside compute.
inline Compiler toy_compiler() {
  Compiler compiler;
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_to_all, CollectiveKind::collective_permute})
    compiler.overlap.asynchronous.set(kind, true);
  return compiler;
}

inline HardwareProfile toy_machine() {
  HardwareProfile machine;
  machine.name = "toy";
  machine.peak_bf16.value = 100e12;
  machine.hbm_bandwidth.value = 1e12;
  machine.matmul_efficiency.value = machine.attention_efficiency.value = machine.hbm_efficiency.value = 1;
  return machine;
}

}  // namespace shardplan
