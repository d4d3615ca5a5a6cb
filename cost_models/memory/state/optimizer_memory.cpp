#include <algorithm>
#include <cost_models/memory/state/optimizer_memory.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

/// What one device holds without data of a weight that ZeRO-1 splits, all layers of it.
struct SplitWeight {
  std::int64_t elements;
  bool in_order;
};

/// Of every weight that ZeRO-1 splits, what `bytes_of(weight, its layout)` says.
template <class BytesOf>
Bytes sum_over_shards(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                      const Compiler& compiler, BytesOf bytes_of) {
  Bytes total;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs().size(); ++i) {
      const Tensor& weight = block.block->tensors[i];
      if (!weight.parameter || weight.shared) continue;
      const OptimizerLayout layout =
          optimizer_layout(weight, block.specs()[i], *block.block, program.program->pipeline, *program.mesh, config);
      if (layout.shards == 1) continue;  // updated in its place
      const PipelineShape& pipeline = program.program->pipeline;
      const std::int64_t layers = layers_in_an_array(*block.block, pipeline, config);
      const bool in_order = lies_in_order(weight, block.specs()[i], *program.mesh, compiler, layers);
      total += bytes_of(SplitWeight{block.stored()[i] * layers_on_device(*block.block, pipeline), in_order}, layout);
    }
  return total;
}

}  // namespace

Bytes updates_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const Compiler& compiler) {
  if (!zero1_axis(*program.mesh, config)) return {};
  const std::int64_t element = size_of(config.weight_dtype);
  const bool ahead = config.program == StepProgram::train_compile;
  const auto bytes_of = [&](const SplitWeight& weight, const OptimizerLayout& layout) {
    const bool copied = ahead && layout.joined.empty();
    return Bytes{(weight.elements / layout.shards + (copied ? weight.elements : 0)) * element};
  };
  const Bytes updated = sum_over_shards(blocks, program, config, compiler, bytes_of);
  return updated + (ahead ? Bytes{0} : gathered_parameters(blocks, program, config, compiler));
}

MixedUpdates mixed_updates(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                           const TrainConfig& config, const Compiler& compiler) {
  if (!zero1_axis(*program.mesh, config) || !updates_gathered_weights(config)) return {};
  const int copies = compiler.has(Habit::permutes_before_gathers) ? 1 : 2;
  Bytes all, largest, rest;
  const std::int64_t element = size_of(config.weight_dtype);
  rest = sum_over_shards(blocks, program, config, compiler, [&](const SplitWeight& weight, const OptimizerLayout& layout) {
    const Bytes shard{weight.elements / layout.shards * element};
    if (layout.joined.empty()) {
      const bool keeps = gathered_dtype(layout, config, compiler) == config.weight_dtype;
      return keeps ? shard + Bytes{weight.elements * element} : shard;
    }
    const Bytes whole{weight.elements * program.mesh->product(layout.joined) * element * copies};
    all += whole;
    largest = std::max(largest, whole);
    return shard;
  });
  if (all.value == 0) return {};
  return {rest + all, all - largest};
}

namespace {

/// What the loop of gradient accumulation reads, of all weights, split or not; 0 where they have its dtype.
Bytes cast_parameters(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config) {
  const DType narrowed = accumulation_dtype(config);
  if (narrowed == config.weight_dtype) return {};
  Bytes all;
  for (const auto& block : blocks) all += whole_parameter_bytes(block, program, narrowed);
  return all;
}

}  // namespace

Bytes gathered_parameters(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                          const TrainConfig& config, const Compiler& compiler) {
  const Bytes cast = cast_parameters(blocks, program, config);
  if (!zero1_axis(*program.mesh, config)) return cast;
  const bool ahead = config.program == StepProgram::train_compile;
  const bool copies = compiler.has(Habit::copies_weights_for_update);
  const bool accumulates = config.gradient_accumulation_steps > 1;
  const std::int64_t gathered = accumulates && cast.value == 0 ? size_of(config.weight_dtype) : 0;
  const auto bytes_of = [&](const SplitWeight& weight, const OptimizerLayout& layout) {
    const bool as_stored = gathered_dtype(layout, config, compiler) == config.weight_dtype;
    const bool copied = ahead ? copies && layout.joined.empty() : as_stored && !accumulates;
    const std::int64_t element = copied ? size_of(config.weight_dtype) : 0;
    const std::int64_t parts = ahead && !weight.in_order ? layout.shards : 1;
    return Bytes{weight.elements / parts * element + weight.elements * gathered};
  };
  return sum_over_shards(blocks, program, config, compiler, bytes_of) + cast;
}

}  // namespace shardplan
