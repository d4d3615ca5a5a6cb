#pragma once
// Habit::shares_gathered_tables: outside of loops equal gathers are one. A head whose weight is gathered already reads
// that: of a tied head for its lookup, of multi-token prediction for the decoder's own head. Private to this room.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <span>

namespace shardplan {

/// Takes the gathers that the blocks before it have out of `head`, where that is a head. Behind layers that no whole cycle
/// of the scan holds, the compiler may not (Habit::gathers_tables_again_behind_scans).
void share_gathered_table(std::span<const PartitionedBlock> before, PartitionedBlock& head, const Compiler& compiler);

}  // namespace shardplan
