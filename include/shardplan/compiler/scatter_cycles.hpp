#pragma once
// What XLA:TPU's scatter takes on a device's core, which writes number after number at places that an index names.
#include <shardplan/units.hpp>

namespace shardplan {

/// Cycles a number that is written. A result that VMEM holds, each number as a word, is written as it comes; places of a
/// larger one are sorted first, and it is gone through piece by piece. Halves (bfloat16) are read, merged and written back.
struct ScatterCycles {
  struct Of {
    double in_vmem = 0, sorted = 0;
  };
  Of words, halves;
  Bytes vmem;  ///< for a result, where no flag sets scoped_vmem_limit
};

}  // namespace shardplan
