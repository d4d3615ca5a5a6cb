#pragma once
// Embedding tables that lie with the vocabulary along the lanes, because a device's columns don't fill whole tiles
// (Habit::pads_to_tiles: [201088, 360] takes 384 lanes the right way round). Rows are looked up and added up the right way
// round, and so the update wants the table and its moments: copies that XLA:TPU makes around the loss and turns back at the
// end (recorded: gptoss20bx4_v5p8_fsdp8, qwen25_7bx4_v6e8_fsdp8). A tied head multiplies with the table as it lies, its
// gradient is made that way (gemma2_9b_v6e8_fsdp8).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <vector>

namespace shardplan {

/// All at once: see turns_tables_behind_loss.
Bytes turned_tables(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler);

/// Whether they are made behind the loss (7x, qwen257bx4_7x16_fsdp16_savedot; v5p, qwen257bx5_v5p8_fsdp8_minctx; v6e of one
/// sequence, qwen257bx2_v6e8_fsdp8_1x8192), not in front of it: there they are only where both products compute the gradient
/// of the logits of several sequences (v6e: qwen25_7bx4_v6e8_fsdp8, qwen257bx4_v6e8_fsdp2ft4).
bool turns_tables_behind_loss(const std::vector<PartitionedBlock>& blocks, const Mesh& mesh, const Compiler& compiler);

/// Of a table that no head has to do with (gemma4's rows for each layer) the update alone makes them, when the others have
/// been made (recorded: gemma4e2b_v5p4_fsdp4, [262144, 2240]: 2304 lanes, three copies of 2.4 GB beside the gradient).
struct TurnedUpdate {
  Bytes gradient, copies;
};
std::vector<TurnedUpdate> turned_updates(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                         const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
