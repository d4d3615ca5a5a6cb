#include <algorithm>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/memory/turned_tables.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/partition/logits.hpp>

namespace shardplan {
namespace {

bool has_tied_head(const std::vector<PartitionedBlock>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [](const PartitionedBlock& block) { return block.block->reads_table; });
}

/// The table with its columns along the lanes; 0 where it lies so.
std::int64_t turned_elements(const PartitionedBlock& block, TensorId table, const Mesh& mesh) {
  const std::int64_t right_way_round = row_elements(block.block->tensors[table], block.specs()[table], mesh);
  return right_way_round > block.stored()[table] ? right_way_round : 0;
}

/// The table and its moments.
Bytes turned_copies(const PartitionedBlock& block, TensorId table, const BoundProgram& program, const TrainConfig& config) {
  const std::int64_t elements = turned_elements(block, table, *program.mesh);
  const std::int64_t moments = config.optimizer_memory_host_offload
                                   ? 0
                                   : moment_bytes(block.block->tensors[table], *block.block, config);
  const auto shards = optimizer_shards(block, static_cast<std::size_t>(table), program, config);
  return Bytes{elements * size_of(config.weight_dtype) + elements / shards * moments};
}

/// Another block has it: embeddings of multi-token prediction look up the model's own table.
bool is_lent(const PartitionedBlock& block, TensorId table) { return block.block->tensors[table].shared; }

template <class Visit>
void visit_tables(const std::vector<PartitionedBlock>& blocks, const Visit& visit) {
  for (const PartitionedBlock& block : blocks)
    for (const Operation& op : block.block->operations)
      if (op.kind == OpKind::lookup && block.block->kind == BlockKind::embedding && !is_lent(block, op.inputs.front()))
        visit(block, op.inputs.front());
}

/// Looked up beside the embedding, not by it: a block that has embedded tokens already.
bool is_beside_embedding(const PartitionedBlock& block) { return !block.block->side_inputs.empty(); }

}  // namespace

bool turns_tables_behind_loss(const std::vector<PartitionedBlock>& blocks, const Mesh& mesh, const Compiler& compiler) {
  return std::none_of(blocks.begin(), blocks.end(), [&](const PartitionedBlock& block) {
    return sequences_of_logits(*block.block, block.specs(), mesh) > 1 &&
           writes_over_logits(*block.block, block.flow(), block.specs(), mesh, compiler);
  });
}

Bytes turned_tables(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler) {
  Bytes total;
  if (!compiler.has(Habit::pads_to_tiles) || has_tied_head(blocks)) return total;
  visit_tables(blocks, [&](const PartitionedBlock& block, TensorId table) {
    if (!is_beside_embedding(block)) total += turned_copies(block, table, program, config);
  });
  return total;
}

std::vector<TurnedUpdate> turned_updates(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                         const TrainConfig& config, const Compiler& compiler) {
  std::vector<TurnedUpdate> updates;
  if (!compiler.has(Habit::pads_to_tiles)) return updates;
  visit_tables(blocks, [&](const PartitionedBlock& block, TensorId table) {
    if (!is_beside_embedding(block)) return;
    const Bytes gradient{turned_elements(block, table, *program.mesh) * size_of(config.dtype)};
    updates.push_back({gradient, turned_copies(block, table, program, config)});
  });
  return updates;
}

}  // namespace shardplan
