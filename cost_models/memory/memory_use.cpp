#include <algorithm>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/static_memory.hpp>

namespace shardplan {
namespace {

struct Moment {
  std::string name;
  Bytes gradients, activations, temporaries;
  Bytes total() const { return gradients + activations + temporaries; }
};

/// Parameters of a scanned stack are stored [first dim, layers, …]; XLA:GPU copies them to [layers, first dim, …] in
/// float32 before the loop, unless the first dim is 1 on the device and the copy is free.
Bytes restacked_parameters(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                           const CompilerHabits& habits) {
  Bytes total;
  if (!habits.copies_stacked_parameters || !config.scan_layers || block.block->kind != BlockKind::layer) return total;
  for (std::size_t i = 0; i < block.specs.size(); ++i) {
    const Tensor& tensor = block.block->tensors[i];
    if (!tensor.parameter || tensor.dims.empty()) continue;
    const std::int64_t first = tensor.dims.front().size / program.mesh->product(block.specs[i].dims.front());
    if (first > 1) total += Bytes{local_elements(tensor.dims, block.specs[i], *program.mesh) * size_of(config.weight_dtype)};
  }
  return total * layers_on_device(*block.block, program.program->pipeline);
}

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
  Bytes saved, restacked;
  for (const auto& block : blocks) {
    use.parameters += parameter_bytes(block, program, config);
    use.optimizer += optimizer_bytes(block, program, config);
    saved += saved_activations(block, program);
    restacked += restacked_parameters(block, program, config, habits);
  }
  const bool accumulates = config.gradient_accumulation_steps > 1;
  const Bytes accumulator = accumulates ? use.parameters : Bytes{0};

  std::vector<Moment> moments;
  Bytes gradients = accumulator, waiting = saved;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const bool head = block->block->kind == BlockKind::head;
    gradients += head ? Bytes{0} : parameter_bytes(*block, program, config);
    const int first = block->block->rematerialized ? block->backward_begins : 0;
    moments.push_back({head ? "loss" : "backward of " + block->block->name, gradients, waiting,
                       working_set(*block, first) + restacked});
    if (head) gradients += parameter_bytes(*block, program, config);
    waiting -= saved_activations(*block, program);
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
