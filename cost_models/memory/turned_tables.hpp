#pragma once
// Embedding tables that lie with the vocabulary along the lanes, because a device's columns don't fill whole tiles
// (Habit::pads_to_tiles: [201088, 360] takes 384 lanes the right way round). Rows are looked up and added up the right way
// round, and so the update wants the table and its moments: copies that XLA:TPU makes before the loss and turns back at the
// end (recorded: gptoss20bx4_v5p8_fsdp8, qwen25_7bx4_v6e8_fsdp8). A tied head multiplies with the table as it lies, its
// gradient is made that way (gemma2_9b_v6e8_fsdp8).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

Bytes turned_tables(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler);

}  // namespace shardplan
