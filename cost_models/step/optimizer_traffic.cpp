#include <algorithm>
#include <cost_models/step/muon_matrix.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/step/optimizer_traffic.hpp>
#include <cost_models/partition/recorder.hpp>

namespace shardplan {
namespace {

template <class RecordParameter>
std::vector<Collective> over_parameters(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                        RecordParameter record) {
  std::vector<Collective> all;
  for (const auto& block : blocks) {
    Recorder recorder(*program.program, *block.block, *program.mesh);
    for (std::size_t i = 0; i < block.specs.size(); ++i)
      if (is_trained(block.block->tensors[i])) record(recorder, block, i);
    const auto collectives = recorder.take();
    all.insert(all.end(), collectives.begin(), collectives.end());
  }
  return all;
}

/// weight + decay · weight + moments' update: the weight is split in the order of its own axes, the moments in data's before
/// these, and no slice leads from one to the other. Both are gathered whole in float32, added, and the shard of the sum
/// changes places ("involuntary full rematerialization"; optax add_decayed_weights and scale_by_adam in the recorded
/// ll7x4_v5p8_zero1_dp2_fsdp4_loop, ll8x4_v6e8_zero1_dp4_fsdp2_loop).
void record_mixed_update(Recorder& recorder, const BoundProgram& program, const PartitionedBlock& block, std::size_t i,
                         const OptimizerLayout& layout, const AxisList& all, const TrainConfig& config) {
  const Tensor& weight = block.block->tensors[i];
  const PartitionSpec whole = without_axes(block.specs[i], layout.joined);
  const Bytes bytes{local_elements(weight.dims, whole, *program.mesh) *
                    layers_on_device(*block.block, program.program->pipeline) * size_of(config.weight_dtype)};
  for (const AxisList& axes : {layout.joined, all})
    recorder.record(Phase::optimizer, {CollectiveKind::all_gather, axes, bytes, true},
                    {-1, static_cast<TensorId>(i), Cause::zero1_permuted_shards, {layout.spec, {}}, whole}, 1);
}

}  // namespace

std::vector<Collective> zero1_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                      const TrainConfig& config, const Compiler& compiler) {
  const auto data = zero1_axis(*program.mesh, config);
  if (!data || program.program->step == StepKind::forward) return {};
  const std::int64_t element = size_of(gathered_dtype(*program.mesh, config, compiler));
  const Cause gathered =
      config.program == StepProgram::train ? Cause::zero1_step_weights : Cause::zero1_updated_weights;
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    const auto layout =
        optimizer_layout(weight, block.specs[i], *block.block, program.program->pipeline, *program.mesh, config);
    if (layout.shards == 1) return;
    const auto tensor = static_cast<TensorId>(i);
    const std::int64_t bytes = local_elements(weight.dims, block.specs[i], *program.mesh) *
                               layers_on_device(*block.block, program.program->pipeline) * element;
    if (!layout.joined.empty()) {
      AxisList axes = layout.joined;
      axes.push_back(*data);
      axes.sort();
      const bool mixes = updates_gathered_weights(config);
      recorder.record(Phase::optimizer, {CollectiveKind::collective_permute, axes, Bytes{bytes / layout.shards}, true},
                      {-1, tensor, Cause::zero1_permuted_shards, {layout.spec, {}}, block.specs[i]}, mixes ? 2 : 1);
      if (mixes) record_mixed_update(recorder, program, block, i, layout, axes, config);
    }
    recorder.record(Phase::optimizer, {CollectiveKind::all_gather, {*data}, Bytes{bytes}, true},
                    {-1, tensor, gathered, {layout.spec, {}}, block.specs[i]}, 1);
  });
}

std::vector<Collective> muon_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                     const TrainConfig& config, const Compiler& compiler) {
  if (config.opt_type != OptimizerType::muon || program.program->step == StepKind::forward) return {};
  const std::int64_t moved = size_of(newton_schulz_dtype(config, compiler));
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    if (!is_muon_matrix(weight, *block.block)) return;
    const MuonMatrix matrix = muon_matrix(weight, block.specs[i], *program.mesh);
    const std::int64_t copies = layers_on_device(*block.block, program.program->pipeline) * matrix.batch;
    const auto record = [&](CollectiveKind kind, const AxisList& axes, std::int64_t elements, std::int64_t element,
                            Cause cause) {
      recorder.record(Phase::optimizer, {kind, axes, Bytes{copies * elements * element}, true},
                      {-1, static_cast<TensorId>(i), cause, {block.specs[i], {}}, {}}, newton_schulz_steps);
    };
    const std::int64_t gram = matrix.kept * matrix.kept;
    record(CollectiveKind::all_reduce, matrix.contracted_axes, gram, size_of(DType::f32),
           Cause::newton_schulz_gram);
    record(CollectiveKind::all_gather, matrix.kept_axes, matrix.kept * matrix.contracted, moved,
           Cause::newton_schulz_matrix);
    record(CollectiveKind::all_gather, matrix.kept_axes, gram, moved, Cause::newton_schulz_square);
  });
}

}  // namespace shardplan
