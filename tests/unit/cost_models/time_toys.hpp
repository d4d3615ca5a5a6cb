#pragma once
// A machine whose prices can be checked in the head: 100 TFLOP/s, 1 TB/s of HBM, everything reached in full.
#include <shardplan/hardware.hpp>

namespace shardplan {

inline HardwareProfile toy_machine() {
  HardwareProfile machine;
  machine.name = "toy";
  machine.peak_bf16.value = 100e12;
  machine.hbm_bandwidth.value = 1e12;
  machine.matmul_efficiency.value = machine.attention_efficiency.value = machine.hbm_efficiency.value = 1;
  return machine;
}

}  // namespace shardplan
