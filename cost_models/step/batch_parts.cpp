#include <cost_models/partition/recorder.hpp>
#include <cost_models/step/batch_parts.hpp>

namespace shardplan {

Moves between_rows_and_parts(const AxisList& axes, std::int64_t parts, Bytes rows, const Mesh& mesh) {
  Moves moves;
  if (axes.empty() || parts == 1) return moves;
  moves.push_back({CollectiveKind::all_to_all, axes, rows});
  if (parts < mesh.product(axes)) moves.push_back({CollectiveKind::collective_permute, axes, rows});
  return moves;
}

/// MaxText reshapes the hidden state to [tiles, tokens / tiles] and constrains the second dim to the axes that split the
/// tokens (utils/vocabulary_tiling.py). Eight programs.
std::vector<Collective> tile_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                     const TrainConfig& config) {
  const PartitionedBlock& head = blocks.back();
  const std::int64_t tiles = config.num_vocab_tiling;
  if (tiles == 1 || program.program->step != StepKind::train) return {};
  const Mesh& mesh = *program.mesh;
  const TensorId input = head.block->input;
  const Tensor& tile = head.block->tensors[input];
  AxisList tokens;
  for (std::size_t d = 0; d < tile.dims.size(); ++d)
    if (tile.dims[d].dim == Dim::batch || tile.dims[d].dim == Dim::sequence) tokens.append(head.specs()[input].dims[d]);
  Recorder recorder(*program.program, *head.block, mesh);
  const Bytes rows = local_bytes(tile, head.specs()[input], mesh) * tiles;
  const auto record = [&](Phase phase, Cause cause) {
    const Origin origin{0, input, cause, {head.specs()[input], {}}, head.specs()[input]};
    for (const Move& move : between_rows_and_parts(in_mesh_order(tokens), tiles, rows, mesh))
      recorder.record(phase, move, origin, config.gradient_accumulation_steps);
  };
  record(Phase::forward, Cause::result_layout);
  record(Phase::backward, Cause::activation_gradient_layout);
  return recorder.take();
}

}  // namespace shardplan
