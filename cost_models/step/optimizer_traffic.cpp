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
    for (std::size_t i = 0; i < block.specs().size(); ++i)
      if (is_trained(block.block->tensors[i])) record(recorder, block, i);
    const auto collectives = recorder.take();
    all.insert(all.end(), collectives.begin(), collectives.end());
  }
  return all;
}

/// Where data comes before the axes that split a weight's dim already, devices have shards in another order, and no slice
/// leads from one to the other.
class JoinedShards {
 public:
  JoinedShards(Recorder& recorder, const BoundProgram& program, const PartitionedBlock& block, std::size_t i,
               const OptimizerLayout& layout, const TrainConfig& config, const Compiler& compiler)
      : recorder_(recorder),
        program_(program),
        block_(block),
        config_(config),
        compiler_(compiler),
        weight_(static_cast<TensorId>(i)),
        layout_(layout),
        all_(layout.joined) {
    all_.push_back(*zero1_axis(*program.mesh, config));
    all_.sort();
  }

  void record(DType gathered) const {
    permute(gathered, 1);  // before the gather
    if (takes_gradients_of_weights()) permute(gathered, moments);
    if (updates_gathered_weights(config_)) record_mixed_update();
  }

 private:
  static constexpr int moments = 2;  // of Adam, each of which takes its part of the gradient

  const Tensor& weight() const { return block_.block->tensors[weight_]; }
  const PartitionSpec& own() const { return block_.specs()[weight_]; }

  /// Gradients in the weight's own layout (recorded: accumulated ones, and those of constrained experts).
  bool takes_gradients_of_weights() const {
    if (block_.block->in_pipeline && moves_layer_stack(program_.program->pipeline, config_)) return false;  // counted there
    return gradient_spec(weight(), own(), *block_.block, program_, config_) == own();
  }

  /// weight + decay * weight + update: the weight is split in its own order, the update in that of the moments. Both are
  /// gathered whole, added, and the shard of the sum changes places (optax add_decayed_weights and scale_by_adam in
  /// ll7x4_v5p8_zero1_dp2_fsdp4_loop, ll8x4_v6e8_zero1_dp4_fsdp2_loop; XLA calls it involuntary full rematerialization).
  /// Where shards are permuted before gathers those of the weight are, and only the sum is gathered
  /// (ll8x4_7x8_zero1_dp4_fsdp4_loop).
  void record_mixed_update() const {
    const bool permutes = compiler_.has(Habit::permutes_before_gathers);
    if (!permutes) gather(layout_.joined);
    gather(all_);
    permute(config_.weight_dtype, permutes ? 2 : 1);
  }

  void permute(DType dtype, int times) const {
    const std::int64_t elements = stacked(own()) / layout_.shards;
    move({CollectiveKind::collective_permute, all_, Bytes{elements * size_of(dtype)}, true}, own(), times);
  }

  void gather(const AxisList& axes) const {
    const PartitionSpec whole = without_axes(own(), layout_.joined);
    move({CollectiveKind::all_gather, axes, Bytes{stacked(whole) * size_of(config_.weight_dtype)}, true}, whole, 1);
  }

  void move(Move move, const PartitionSpec& to, int times) const {
    recorder_.record(Phase::optimizer, std::move(move),
                     {-1, weight_, Cause::zero1_permuted_shards, {layout_.spec, {}}, to}, times);
  }

  /// Elements of all its layers on a device.
  std::int64_t stacked(const PartitionSpec& spec) const {
    return local_elements(weight().dims, spec, *program_.mesh) *
           layers_on_device(*block_.block, program_.program->pipeline);
  }

  Recorder& recorder_;
  const BoundProgram& program_;
  const PartitionedBlock& block_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  TensorId weight_;
  const OptimizerLayout& layout_;
  AxisList all_;  ///< data and those that it joins
};

}  // namespace

std::vector<Collective> zero1_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                      const TrainConfig& config, const Compiler& compiler) {
  const auto data = zero1_axis(*program.mesh, config);
  if (!data || program.program->step == StepKind::forward) return {};
  const Cause gathered =
      config.program == StepProgram::train ? Cause::zero1_step_weights : Cause::zero1_updated_weights;
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    const auto layout =
        optimizer_layout(weight, block.specs()[i], *block.block, program.program->pipeline, *program.mesh, config);
    if (layout.shards == 1) return;
    const DType dtype = gathered_dtype(layout, config, compiler);
    const auto tensor = static_cast<TensorId>(i);
    const std::int64_t bytes = local_elements(weight.dims, block.specs()[i], *program.mesh) *
                               layers_on_device(*block.block, program.program->pipeline) * size_of(dtype);
    if (!layout.joined.empty())
      JoinedShards(recorder, program, block, i, layout, config, compiler).record(dtype);
    recorder.record(Phase::optimizer, {CollectiveKind::all_gather, {*data}, Bytes{bytes}, true},
                    {-1, tensor, gathered, {layout.spec, {}}, block.specs()[i]}, 1);
  });
}

std::vector<Collective> muon_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                     const TrainConfig& config, const Compiler& compiler) {
  if (config.opt_type != OptimizerType::muon || program.program->step == StepKind::forward) return {};
  const std::int64_t moved = size_of(newton_schulz_dtype(config, compiler));
  return over_parameters(program, blocks, [&](Recorder& recorder, const PartitionedBlock& block, std::size_t i) {
    const Tensor& weight = block.block->tensors[i];
    if (!is_muon_matrix(weight, *block.block)) return;
    const MuonStack stack = muon_stack(block, i, program);
    const auto record = [&](CollectiveKind kind, const AxisList& axes, std::int64_t elements, std::int64_t element,
                            Cause cause) {
      recorder.record(Phase::optimizer, {kind, axes, Bytes{elements * element}, true},
                      {-1, static_cast<TensorId>(i), cause, {block.specs()[i], {}}, {}}, newton_schulz_steps);
    };
    const AxisList &kept = stack.matrix.kept_axes, &contracted = stack.matrix.contracted_axes;
    const bool by_rows = stack.is_squared_by_rows();
    record(CollectiveKind::all_reduce, contracted, stack.square() / (by_rows ? stack.rows : 1), size_of(DType::f32),
           Cause::newton_schulz_gram);
    record(CollectiveKind::all_gather, kept, stack.whole(), moved, Cause::newton_schulz_matrix);
    // X·Xᵀ gathers the transposed X, the last product X: two tensors to XLA:GPU (recorded: ll8x8_h100x8_fsdp8_muon).
    if (by_rows && compiler.has(Habit::gathers_activations_per_consumer))
      record(CollectiveKind::all_gather, kept, stack.whole(), moved, Cause::newton_schulz_matrix);
    if (by_rows) record(CollectiveKind::all_gather, kept, stack.square(), moved, Cause::newton_schulz_square);
  });
}

}  // namespace shardplan
