#include <algorithm>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/stacked_weights.hpp>
#include <cost_models/memory/static_memory.hpp>

namespace shardplan {
namespace {

struct Moment {
  std::string name;
  Bytes gradients, activations, temporaries;
  Bytes total() const { return gradients + activations + temporaries; }
};

}  // namespace

Bytes working_set(const PartitionedBlock& block, int first_step) {
  int last_step = first_step;
  for (const auto& life : block.lifetimes) last_step = std::max(last_step, life.last);
  std::vector<std::int64_t> change(last_step - first_step + 2, 0);
  for (const auto& life : block.lifetimes) {
    if (life.last < first_step) continue;
    change[std::max(life.first, first_step) - first_step] += life.bytes.value;
    change[life.last - first_step + 1] -= life.bytes.value;
  }
  std::int64_t now = 0, worst = 0;
  for (const std::int64_t step : change) worst = std::max(worst, now += step);
  return {worst};
}

Bytes saved_activations(const PartitionedBlock& block, const BoundProgram& program) {
  const Block& b = *block.block;
  if (b.kind != BlockKind::layer) return {};
  Bytes one;
  for (const TensorId saved : block.liveness.saved)
    one += local_bytes(b.tensors[saved], block.specs[saved], *program.mesh);
  const PipelineShape& pipeline = program.program->pipeline;
  if (!b.in_pipeline) return one * b.layers;
  // Each iteration keeps its input; the layers of one stage are run again from it (SHARDING.md section 4).
  const Bytes input = local_bytes(b.tensors[b.input], block.specs[b.input], *program.mesh);
  const Bytes inside = pipeline.layers_per_stage > 1 ? one * pipeline.layers_per_stage : one - input;
  const Bytes buffers = input * (2 + pipeline.microbatches / pipeline.stages + (pipeline.circular_storage() ? pipeline.microbatches : 0));
  return input * pipeline.iterations() + inside + buffers;
}

MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                     const CompilerHabits& habits, Bytes capacity) {
  MemoryUse use;
  use.capacity = capacity;
  use.batch = batch_bytes(blocks, program, config);
  Bytes saved, copies;
  for (const auto& block : blocks) {
    use.parameters += parameter_bytes(block, program, config);
    use.optimizer += optimizer_bytes(block, program, config);
    saved += saved_activations(block, program);
    copies += stacked_weight_copies(block, program, config, habits);
  }
  const Bytes accumulator = config.gradient_accumulation_steps > 1 ? use.parameters : Bytes{0};

  std::vector<Moment> moments;
  Bytes gradients = accumulator;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const bool head = block->block->kind == BlockKind::head, layer = block->block->kind == BlockKind::layer;
    if (layer) gradients += stack_gradients(*block, program, config);
    const int first = block->block->rematerialized ? block->backward_begins : 0;
    moments.push_back({head ? "loss" : "backward of " + block->block->name, gradients, saved,
                       working_set(*block, first) + copies});
    if (head) gradients += head_leftover(*block, program, config, habits);
    saved -= saved_activations(*block, program);
    copies -= stacked_weight_copies(*block, program, config, habits);
  }
  moments.push_back({"optimizer", use.parameters + accumulator, {}, {}});

  const auto peak = std::max_element(moments.begin(), moments.end(),
                                     [](const Moment& a, const Moment& b) { return a.total() < b.total(); });
  use.gradients = peak->gradients;
  use.activations = peak->activations;
  use.temporaries = peak->temporaries;
  use.peak_moment = peak->name;
  return use;
}

}  // namespace shardplan
