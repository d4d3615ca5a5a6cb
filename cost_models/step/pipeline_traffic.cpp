#include <algorithm>
#include <cost_models/step/batch_parts.hpp>
#include <cost_models/step/pipeline_traffic.hpp>
#include <cost_models/partition/recorder.hpp>

namespace shardplan {
namespace {

const PartitionedBlock* pipelined_block(const std::vector<PartitionedBlock>& blocks) {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [](const auto& b) { return b.block->in_pipeline; });
  return found == blocks.end() ? nullptr : &*found;
}

Bytes input_bytes(const PartitionedBlock& block, const Mesh& mesh) {
  return local_bytes(block.block->tensors[block.block->input], block.specs()[block.block->input], mesh);
}

/// What brings a batch [microbatches · microbatch], which stages and the axes of the batch split, to the pipeline's buffers
/// [stages, microbatches / stages, microbatch / axes], or back. One microbatch a stage is there already.
Moves between_batch_and_microbatches(const PartitionedBlock& layers, const PipelineShape& shape, Bytes rows,
                                     const Mesh& mesh) {
  const AxisList axes = layers.specs()[layers.block->input].dims.front();
  Moves moves = between_rows_and_parts(axes, shape.microbatches / shape.stages, rows, mesh);
  if (axes.size() > 1 && moves.size() > 1) moves.resize(1);  // not known: ll8_v5p8_pp2dp2fsdp2
  return moves;
}

/// Going back through the exit, where the buffer's microbatches are taken in another order, parts of microbatches are
/// gathered, and what they are added to is summed whole (six programs); delayed activations are put in order behind the
/// gather (ll8_v5p8_pp2dp4_delay), gradients beside weights gathered once a repeat come as they went
/// (ll8_v5p8_pp2fsdp4_repeat).
Moves back_through_exit(const Moves& forward, const PipelineShape& shape, const TrainConfig& config, const Mesh& mesh) {
  if (forward.size() < 2 || config.pipeline_fsdp_ag_per_repeat) return forward;
  const AxisList& axes = forward.front().axes;
  const Bytes rows = forward.front().bytes;
  Moves moves{{CollectiveKind::all_gather, axes, rows * (shape.microbatches / shape.stages)}};
  if (shape.forwarding_delay == 1) moves.push_back({CollectiveKind::all_reduce, axes, rows * mesh.product(axes)});
  if (shape.forwarding_delay > 1)
    for (const Move& move : forward) moves.push_back(move);
  return moves;
}

/// Rows that come from a table's columns go to the pipeline's buffers at once.
bool comes_from_columns(const PartitionedBlock& before) {
  const auto of_rows = [](const Collective& c, CollectiveKind kind) {
    return c.cause == Cause::embedding_columns && c.kind == kind;
  };
  const auto any = [&](CollectiveKind kind) {
    return std::ranges::any_of(before.collectives, [&](const Collective& c) { return of_rows(c, kind); });
  };
  return any(CollectiveKind::all_to_all) && !any(CollectiveKind::reduce_scatter);
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
  const Origin shifted{-1, input, Cause::stage_shift, {layers->specs()[input], {}}, layers->specs()[input]};
  recorder.record(Phase::forward, shift, shifted, permutes);
  if (trains) recorder.record(Phase::backward, shift, shifted, permutes);

  const auto record = [&](Phase phase, const Moves& moves, const Origin& origin) {
    if (phase == Phase::backward && !trains) return;
    for (const Move& move : moves) recorder.record(phase, move, origin, accumulation);
  };
  const PartitionSpec& split = layers->specs()[input];
  const Moves moves = between_batch_and_microbatches(*layers, shape, input_bytes(blocks.back(), mesh), mesh);
  const Origin left{-1, input, Cause::pipeline_output, {split, {}}, {}};
  record(Phase::forward, moves, left);
  record(Phase::backward, back_through_exit(moves, shape, config, mesh), left);
  if (layers == &blocks.front() || comes_from_columns(*(layers - 1))) return recorder.take();
  const Origin entered{-1, input, Cause::pipeline_input, {}, split};
  record(Phase::forward, moves, entered);
  record(Phase::backward, moves, entered);
  return recorder.take();
}

}  // namespace shardplan
