#include <algorithm>
#include <cost_models/blocks/known_blocks.hpp>
#include <cost_models/blocks/stack_work.hpp>

namespace shardplan {
namespace {

bool computes_alike(const Block& a, const Block& b) {
  return runs_alike(a, b) && static_cast<const BlockBody&>(a) == static_cast<const BlockBody&>(b);
}

}  // namespace

KnownBlocks::Setting KnownBlocks::setting_of(const BoundProgram& program, std::size_t index, const TrainConfig& config) {
  const PipelineShape& pipeline = program.program->pipeline;
  return {index,
          pipeline.repeats > 1,
          pipeline.queues_microbatches(),
          config.pipeline_fsdp_ag_once,
          config.gradient_accumulation_steps,
          config.shard_optimizer_over_data,
          splash_blocks_in(config),
          program.mesh->group_size(program.expert_axes, GroupSpan::between_slices)};
}

/// What tells most of them apart: which block it is, what is computed again, and how many tokens it reads.
std::size_t KnownBlocks::hash_of(const Setting& setting, const Block& block, const Liveness& liveness) {
  std::size_t hash = std::hash<std::vector<bool>>{}(liveness.recomputed) * 31 + setting.index;
  for (const TensorDim& dim : block.tensors[block.input].dims) hash = hash * 31 + static_cast<std::size_t>(dim.size);
  return hash;
}

std::optional<PartitionedBlock> KnownBlocks::find(const BoundProgram& program, std::size_t index, const Liveness& liveness,
                                                  const TrainConfig& config, const Compiler& compiler) const {
  const Block& block = *program.blocks[index].block;
  const Setting setting = setting_of(program, index, config);
  const auto [begin, end] = known_.equal_range(hash_of(setting, block, liveness));
  const auto same = std::find_if(begin, end, [&](const auto& entry) {
    const Known& known = entry.second;
    return known.setting == setting && known.block.liveness == liveness && computes_alike(*known.block.block, block);
  });
  if (same == end) return std::nullopt;
  PartitionedBlock found = same->second.block;
  found.block = &block;
  for (std::size_t i = 0; i < found.collectives.size(); ++i)
    found.collectives[i].executions = runs_of(found.counts[i], block, program.program->pipeline);
  found.stacks = stack_work(found, program, config, compiler);
  return found;
}

void KnownBlocks::add(const BoundProgram& program, std::size_t index, const PartitionedBlock& block,
                      const TrainConfig& config) {
  const Setting setting = setting_of(program, index, config);
  known_.emplace(hash_of(setting, *block.block, block.liveness), Known{setting, block});
}

}  // namespace shardplan
