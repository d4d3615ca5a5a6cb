#include <algorithm>
#include <cost_models/partition/pressed_blocks.hpp>

namespace shardplan {
namespace {

bool runs_otherwise(const PartitionedBlock& block) { return !block.pressed.empty(); }

bool may_be_early(const Lifetime& life) { return life.listed_first >= 0 && life.listed_first < life.first; }

bool gathers_early(const PartitionedBlock& block) {
  return std::any_of(block.lifetimes.begin(), block.lifetimes.end(), may_be_early);
}

/// The largest of what a layer makes that is no such gather.
Bytes largest_made(const Lifetimes& lifetimes) {
  Bytes largest;
  for (const Lifetime& life : lifetimes)
    if (!may_be_early(life)) largest = std::max(largest, life.bytes);
  return largest;
}

template <class Runs>
std::vector<PartitionedBlock> pressed_where(const std::vector<PartitionedBlock>& blocks, Runs otherwise) {
  if (std::none_of(blocks.begin(), blocks.end(), otherwise)) return {};
  std::vector<PartitionedBlock> pressed = blocks;
  for (PartitionedBlock& block : pressed) {
    if (!otherwise(block)) continue;
    block.lifetimes = block.pressed;
    block.weight_gradients_last = false;
  }
  return pressed;
}

}  // namespace

bool is_freed_under_pressure(const std::vector<PartitionedBlock>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), runs_otherwise);
}

std::vector<PartitionedBlock> under_pressure(const std::vector<PartitionedBlock>& blocks) {
  return pressed_where(blocks, runs_otherwise);
}

std::vector<PartitionedBlock> in_list(const std::vector<PartitionedBlock>& blocks) {
  auto listed =
      pressed_where(blocks, [](const PartitionedBlock& block) { return runs_otherwise(block) && !block.block->mixture; });
  if (std::none_of(blocks.begin(), blocks.end(), gathers_early)) return listed;
  if (listed.empty()) listed = blocks;
  for (PartitionedBlock& block : listed) {
    if (!gathers_early(block)) continue;
    const Bytes largest = largest_made(block.lifetimes);
    std::vector<Lifetime> lifetimes = block.lifetimes.all();
    for (Lifetime& life : lifetimes)
      if (may_be_early(life) && life.bytes < largest) life.first = life.listed_first;
    block.lifetimes = std::move(lifetimes);
  }
  return listed;
}

}  // namespace shardplan
