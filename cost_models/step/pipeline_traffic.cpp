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
  const bool trains = program.program->step == StepKind::train;
  Recorder recorder(*program.program, *layers->block, mesh);

  // Per iteration: shift to the next stage, rotation of the in/out buffer, and the circular storage mover.
  const std::int64_t permutes = shape.iterations() * (shape.circular_storage() ? 3 : 2) * accumulation;
  const Move shift{CollectiveKind::collective_permute, program.stage_axes, input_bytes(*layers, mesh)};
  const TensorId input = layers->block->input;
  const Origin shifted{-1, input, Cause::stage_shift, {layers->specs[input], {}}, layers->specs[input]};
  recorder.record(Phase::forward, shift, shifted, permutes);
  if (trains) recorder.record(Phase::backward, shift, shifted, permutes);

  // The pipeline's output [microbatches, microbatch/axes] becomes the head's batch, which stage and those axes split.
  const PartitionedBlock& head = blocks.back();
  const AxisList inner = layers->specs[layers->block->input].dims.front();
  const Move leave{CollectiveKind::all_to_all, inner, input_bytes(head, mesh)};
  const Origin left{-1, input, Cause::pipeline_output, {layers->specs[input], {}}, {}};
  recorder.record(Phase::forward, leave, left, accumulation);
  if (trains) recorder.record(Phase::backward, leave, left, accumulation);
  return recorder.take();
}

}  // namespace shardplan
