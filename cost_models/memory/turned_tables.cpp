#include <algorithm>
#include <cost_models/memory/static_memory.hpp>
#include <cost_models/memory/turned_tables.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

bool has_tied_head(const std::vector<PartitionedBlock>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [](const PartitionedBlock& block) {
    const auto& tensors = block.block->tensors;
    return block.block->kind == BlockKind::head &&
           std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return tensor.shared; });
  });
}

/// The table with its columns along the lanes; 0 where it lies so.
std::int64_t turned_elements(const PartitionedBlock& block, TensorId table, const Mesh& mesh) {
  const std::int64_t right_way_round = row_elements(block.block->tensors[table], block.specs[table], mesh);
  return right_way_round > block.stored[table] ? right_way_round : 0;
}

}  // namespace

Bytes turned_tables(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler) {
  Bytes total;
  if (!compiler.has(Habit::pads_to_tiles) || has_tied_head(blocks)) return total;
  for (const PartitionedBlock& block : blocks)
    for (const Operation& op : block.block->operations)
      if (op.kind == OpKind::lookup && block.block->kind == BlockKind::embedding) {
        const TensorId table = op.inputs.front();
        const std::int64_t elements = turned_elements(block, table, *program.mesh);
        const std::int64_t moments = config.optimizer_memory_host_offload
                                         ? 0
                                         : moment_bytes(block.block->tensors[table], *block.block, config);
        const auto shards = optimizer_shards(block, static_cast<std::size_t>(table), program, config);
        total += Bytes{elements * size_of(config.weight_dtype) + elements / shards * moments};
      }
  return total;
}

}  // namespace shardplan
