#pragma once
// Tokens that are worked on in parts, one after the other: microbatches of a pipeline's stage, vocabulary tiles.
#include <cost_models/moves/reshard.hpp>
#include <cost_models/partition/partitioned_block.hpp>

namespace shardplan {

/// What brings rows [parts · part], which `axes` split, to [parts, part / axes], or back. More parts than the axes have
/// devices are exchanged by one all-to-all; fewer leave each device a share of every one: they are exchanged among as many
/// devices and put in order (recorded: two microbatches a stage over data, fsdp and expert of 4; four tiles over 8 devices).
Moves between_rows_and_parts(const AxisList& axes, std::int64_t parts, Bytes rows, const Mesh& mesh);

/// The head's input, cut into vocabulary tiles (num_vocab_tiling), and its gradient on the way back; empty without tiles,
/// which forward programs don't have.
std::vector<Collective> tile_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                     const TrainConfig& config);

}  // namespace shardplan
