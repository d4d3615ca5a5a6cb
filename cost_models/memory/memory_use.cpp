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
  if (!b.rematerialized) one += block.gathered_weights;  // no second gather: the first one's result waits
  if (!b.in_pipeline) return one * b.layers;
  // Each iteration keeps its input; the layers of one stage are run again from it (SHARDING.md section 4).
  const Bytes input = local_bytes(b.tensors[b.input], block.specs[b.input], *program.mesh);
  const Bytes inside = pipeline.layers_per_stage > 1 ? one * pipeline.layers_per_stage : one - input;
  const Bytes buffers = input * (2 + pipeline.microbatches / pipeline.stages + (pipeline.circular_storage() ? pipeline.microbatches : 0));
  return input * pipeline.iterations() + inside + buffers;
}

namespace {

/// Moments in the order of the step's second half: the loss, the layer stacks backward, the optimizer.
class Moments {
 public:
  Moments(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
          const CompilerHabits& habits)
      : blocks_(blocks), program_(program), config_(config), habits_(habits) {
    for (const auto& block : blocks) {
      waiting_ += saved_activations(block, program);
      copies_ += stacked_weight_copies(block, program, config, habits);
    }
  }

  std::vector<Moment> all(Bytes accumulator) {
    gradients_ = accumulator;
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) run_backward(*block);
    moments_.push_back(optimizer(accumulator));
    return std::move(moments_);
  }

 private:
  void run_backward(const PartitionedBlock& block) {
    const bool head = block.block->kind == BlockKind::head;
    if (block.block->kind == BlockKind::layer) gradients_ += stack_gradients(block, program_, config_);
    const int first = block.block->rematerialized ? block.backward_begins : 0;
    moments_.push_back({head ? "loss" : "backward of " + block.block->name, gradients_, waiting_, working_set(block, first) + copies_});
    if (head) gradients_ += head_leftover(block, program_, config_, habits_);
    waiting_ -= saved_activations(block, program_);
    copies_ -= stacked_weight_copies(block, program_, config_, habits_);
  }

  /// All gradients wait for their common norm, then the updates are made.
  Moment optimizer(Bytes accumulator) const {
    Bytes gradients, updates;
    for (const auto& block : blocks_) {
      gradients += waiting_gradients(block, program_, config_);
      updates += updates_in_flight(block, program_, config_);
    }
    return {"optimizer", std::max(gradients, accumulator), {}, updates};
  }

  const std::vector<PartitionedBlock>& blocks_;
  const BoundProgram& program_;
  const TrainConfig& config_;
  const CompilerHabits& habits_;
  std::vector<Moment> moments_;
  Bytes gradients_, waiting_, copies_;
};

}  // namespace

MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                     const CompilerHabits& habits, Bytes capacity) {
  MemoryUse use;
  use.capacity = capacity;
  use.batch = batch_bytes(blocks, program, config);
  for (const auto& block : blocks) {
    use.parameters += parameter_bytes(block, program, config);
    use.optimizer += optimizer_bytes(block, program, config);
  }
  const Bytes accumulator = config.gradient_accumulation_steps > 1 ? use.parameters : Bytes{0};
  const auto moments = Moments(blocks, program, config, habits).all(accumulator);
  const auto peak = std::max_element(moments.begin(), moments.end(),
                                     [](const Moment& a, const Moment& b) { return a.total() < b.total(); });
  use.gradients = peak->gradients;
  use.activations = peak->activations;
  use.temporaries = peak->temporaries;
  use.peak_moment = peak->name;
  return use;
}

}  // namespace shardplan
