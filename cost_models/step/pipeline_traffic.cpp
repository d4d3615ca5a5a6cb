#include <algorithm>
#include <cost_models/step/pipeline_traffic.hpp>
#include <cost_models/partition/recorder.hpp>

namespace shardplan {
namespace {

const PartitionedBlock* pipelined_block(const std::vector<PartitionedBlock>& blocks) {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [](const auto& b) { return b.block->in_pipeline; });
  return found == blocks.end() ? nullptr : &*found;
}

Bytes input_bytes(const PartitionedBlock& block, const Mesh& mesh) {
  return local_bytes(block.block->tensors[block.block->input], block.specs[block.block->input], mesh);
}

}  // namespace

std::vector<Collective> pipeline_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                         const TrainConfig& config) {
  const PartitionedBlock* layers = pipelined_block(blocks);
  if (!layers) return {};
  const Mesh& mesh = *program.mesh;
  const PipelineShape& shape = program.program->pipeline;
  const std::int64_t accumulation = config.gradient_accumulation_steps;
  Recorder recorder(*layers->block, mesh);

  // Per iteration: shift to the next stage, rotation of the in/out buffer, and the circular storage mover.
  const std::int64_t permutes = shape.iterations() * (shape.circular_storage() ? 3 : 2) * accumulation;
  const Move shift{CollectiveKind::collective_permute, program.stage_axes, input_bytes(*layers, mesh)};
  recorder.record(Phase::forward, shift, "pipeline/shift",
                  "activations go to the next stage, buffers rotate, each iteration", permutes);
  recorder.record(Phase::backward, shift, "pipeline/shift", "gradients go back along the stages, each iteration",
                  permutes);

  // The pipeline's output [microbatches, microbatch/axes] becomes the head's batch, which stage and those axes split.
  const PartitionedBlock& head = blocks.back();
  const AxisList inner = layers->specs[layers->block->input].dims.front();
  const Move leave{CollectiveKind::all_to_all, inner, input_bytes(head, mesh)};
  recorder.record(Phase::forward, leave, "pipeline/output", "microbatches become the batch of the head", accumulation);
  recorder.record(Phase::backward, leave, "pipeline/output", "the head's gradient becomes microbatches", accumulation);
  return recorder.take();
}

}  // namespace shardplan
