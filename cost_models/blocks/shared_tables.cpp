#include <algorithm>
#include <cost_models/blocks/shared_tables.hpp>
#include <cost_models/partition/block_state.hpp>
#include <cost_models/partition/loops.hpp>

namespace shardplan {
namespace {

bool gathers_table(const Collective& c, const Block& block) {
  return c.kind == CollectiveKind::all_gather && c.phase == Phase::forward && c.parameter && c.tensor >= 0 &&
         index_of(block.tensors[c.tensor].dims, Dim::vocab) >= 0;
}

/// Whether `block` makes the same gather of a table.
bool has_gathered(const PartitionedBlock& block, const Collective& wanted) {
  return std::any_of(block.collectives.begin(), block.collectives.end(), [&](const Collective& c) {
    return gathers_table(c, *block.block) && c.axes == wanted.axes && c.bytes == wanted.bytes;
  });
}

/// Whether the layers of a scan are more than whole cycles of it.
bool leaves_layers_behind(const Loop& loop) {
  return std::any_of(loop.begin(), loop.end(), [&](const PartitionedBlock* block) {
    return layers_behind_scan(*block->block, whole_cycles(loop)) > 0;
  });
}

}  // namespace

void share_gathered_table(std::span<const PartitionedBlock> before, PartitionedBlock& head, const Compiler& compiler) {
  if (head.block->kind != BlockKind::head) return;
  // Behind a predicting cycle the other head is too far (olmo37bx8_v5p8_fsdp8_mtp; gptoss20bx4_v5p8_fsdp8_mtp).
  const auto predicting = std::count_if(before.begin(), before.end(), [](const PartitionedBlock& block) {
    return block.block->single_run == SingleRun::later_tokens;
  });
  const bool apart = compiler.has(Habit::gathers_tables_again_behind_scans) &&
                     std::ranges::any_of(loops_of(before), leaves_layers_behind);
  const auto is_there = [&](const Collective& wanted) {
    if (!gathers_table(wanted, *head.block)) return false;
    const bool tied = head.block->tensors[wanted.tensor].shared;
    return std::any_of(before.begin(), before.end(), [&](const PartitionedBlock& block) {
      const bool near_head = block.block->kind == BlockKind::head && predicting <= 1;
      const bool holds_it = near_head || (tied && !apart && block.block->kind == BlockKind::embedding);
      return holds_it && has_gathered(block, wanted);
    });
  };
  for (std::size_t i = head.collectives.size(); i-- > 0;) {
    if (!is_there(head.collectives[i])) continue;
    head.collectives.erase(head.collectives.begin() + static_cast<std::ptrdiff_t>(i));
    head.counts.erase(head.counts.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace shardplan
