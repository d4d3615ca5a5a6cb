#pragma once
// Seconds that adding rows up takes where their numbers get into each other's way.
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// numbers · min(rows, in flight / width) / attempts: as the rows are in the order of their sums, those on their way at a
/// time go to the same one. 8,192 rows of 2,880 to 32 sums, 256 each, at 550G attempts/s: 23.6M · 256 / 550G = 11 ms; where
/// 3.07M numbers are on their way, 65,536 rows to 32 sums have 1,066 of their 2,048 in each other's way, 366 ms.
/// Nothing where the machine has no such figure, which a finding says (bias_gradients_unpriced).
Seconds row_sums_time(const RowSums& sums, const HardwareProfile& hardware);

}  // namespace shardplan
