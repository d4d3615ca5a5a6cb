#include <algorithm>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/partition/recorder.hpp>
#include <cost_models/step/layer_stack.hpp>

namespace shardplan {
namespace {

/// The stacked copies of one weight that a stage holds, and its moves between stages and repeats.
class StackMoves {
 public:
  StackMoves(const BoundProgram& program, const PartitionedBlock& block, const TrainConfig& config,
             const Compiler& compiler, Recorder& recorder)
      : program_(program),
        mesh_(*program.mesh),
        block_(block),
        config_(config),
        compiler_(compiler),
        recorder_(recorder),
        gathered_axes_(mesh_.axes_of(AxisFamily::fsdp)),
        layers_(layers_on_device(*block.block, program.program->pipeline)),
        stages_(program.program->pipeline.stages) {}

  void record(std::size_t tensor) {
    const Tensor& weight = block_.block->tensors[tensor];
    const PartitionSpec whole = without_axes(block_.specs()[tensor], gathered_axes_);
    const std::int64_t full = local_elements(weight.dims, whole, mesh_) * layers_;
    const std::int64_t shard = local_elements(weight.dims, block_.specs()[tensor], mesh_) * layers_;
    Stack stack{static_cast<TensorId>(tensor), full, shard, on_repeats(full), on_repeats(shard),
                has_shards_for_stages(block_.specs()[tensor]), {}, axes_of(whole)};
    if (!whole.dims.empty()) stack.on_stages = whole.dims.front();
    record_weights(stack);
    record_gradients(stack);
  }

 private:
  /// One weight of all the layers that a stage holds. The axes that stay when it is gathered (tensor, expert) are
  /// shifted by one dim with the stages: those of the weight's first dim onto the stages, others onto the dim before.
  struct Stack {
    TensorId weight;
    std::int64_t full, shard;  ///< elements on a device, gathered and as stored
    std::int64_t full_on_repeats, shard_on_repeats;  ///< likewise, when the repeats are split over the stages
    bool shards_for_stages;
    AxisList on_stages, kept;
    bool leaves_stages() const { return !on_stages.empty(); }
  };

  std::int64_t on_repeats(std::int64_t elements) const {
    return elements_on_repeats(elements, program_.program->pipeline);
  }

  /// Axes of the weight's shards, and those that it has copies on: where shards and stages change places the devices of the
  /// copies are taken in another order (recorded: llama27bx12_v5p8_pp2dp2fsdp2_once).
  AxisList with_copies(TensorId weight) const {
    const AxisList own = axes_of(block_.specs()[weight]);
    AxisList axes = own;
    for (std::size_t i = 0; i < mesh_.axes.size(); ++i) {
      const auto axis = static_cast<AxisId>(i);
      const bool taken = own.contains(axis) || program_.stage_axes.contains(axis);
      if (mesh_.size(axis) > 1 && !taken) axes.push_back(axis);
    }
    return axes;
  }

  /// Whether a dim has as many shards as there are stages: XLA then takes it for the one that goes to the stages
  /// (GetReshardAllToAllSourceTargetDims pairs dims by their numbers of shards; recorded with 2 and 2, 4 and 4, not with 2
  /// stages and 4 shards or the other way round).
  bool has_shards_for_stages(const PartitionSpec& spec) const {
    return std::any_of(spec.dims.begin(), spec.dims.end(), [&](const AxisList& axes) {
      return mesh_.product(axes) / mesh_.product(without(axes, gathered_axes_)) == stages_;
    });
  }

  void move(Phase phase, CollectiveKind kind, const AxisList& axes, std::int64_t bytes, const Stack& stack,
            Cause cause, std::int64_t executions = 1) {
    recorder_.record(phase, {kind, in_mesh_order(axes), Bytes{bytes}, true}, {-1, stack.weight, cause, {}, {}},
                     executions);
  }

  AxisList stages_and(const AxisList& axes, const AxisList& more = {}) const {
    AxisList both = program_.stage_axes;
    both.append(axes);
    both.append(more);
    return both;
  }

  /// Between stages and repeats: one exchange, which takes kept axes along; or, where these were on the stages, a
  /// permute of them and an exchange over `exchanged`.
  void between(Phase phase, const Stack& stack, const AxisList& exchanged, std::int64_t bytes, Cause cause,
               std::int64_t executions = 1) {
    if (!stack.leaves_stages())
      return move(phase, CollectiveKind::all_to_all, stages_and(stack.kept), bytes, stack, cause, executions);
    move(phase, CollectiveKind::all_to_all, exchanged, bytes, stack, cause, executions);
    move(phase, CollectiveKind::collective_permute, stages_and(stack.kept), bytes, stack, cause, executions);
  }

  void record_weights(const Stack& stack) {
    constexpr Cause to_repeats = Cause::stack_to_repeats, to_stages = Cause::stack_to_stages;
    if (!compiler_.has(Habit::moves_stacks_in_compute_dtype)) {  // XLA:GPU gathers and moves float32, casts later
      const std::int64_t bytes = stack.full_on_repeats * size_of(config_.weight_dtype);
      between(Phase::forward, stack, stack.kept, bytes, to_repeats);
      return between(Phase::optimizer, stack, program_.stage_axes, bytes, to_stages);
    }
    const std::int64_t element = size_of(config_.dtype);
    if (gathered_axes_.empty()) {
      between(Phase::forward, stack, stack.kept, stack.full_on_repeats * element, to_repeats);
    } else if (compiler_.has(Habit::permutes_before_gathers)) {
      exchange_shards_first(stack, element);
    } else if (!stack.shards_for_stages) {
      move(Phase::optimizer, CollectiveKind::all_gather, gathered_axes_, stack.full * element, stack, to_repeats);
      between(Phase::forward, stack, stack.kept, stack.full_on_repeats * element, to_repeats);
    } else {  // shards of all stages are gathered, then fsdp leaves and stages come in one dim at a time
      AxisList first = stack.kept;
      if (stack.kept.empty() || stack.leaves_stages())
        first.append(gathered_axes_);
      move(Phase::optimizer, CollectiveKind::all_gather, program_.stage_axes, stack.shard * stages_ * element, stack,
           to_repeats);
      move(Phase::forward, CollectiveKind::all_to_all, first, stack.shard_on_repeats * stages_ * element, stack, to_repeats);
      move(Phase::forward, CollectiveKind::collective_permute, stages_and(with_copies(stack.weight)),
           stack.full_on_repeats * element, stack, to_repeats);
    }
    between(Phase::optimizer, stack, program_.stage_axes, stack.full_on_repeats * element, to_stages);
  }

  /// On 7x, whether shards are as many as stages or not (recorded: stages=2, fsdp=4; 4 and 2; 4 and 4).
  void exchange_shards_first(const Stack& stack, std::int64_t element) {
    constexpr Cause cause = Cause::stack_to_repeats;
    between(Phase::forward, stack, stack.kept, stack.shard_on_repeats * element, cause);
    move(Phase::forward, CollectiveKind::all_gather, gathered_axes_, stack.full_on_repeats * element, stack, cause);
    between(Phase::rematerialized_forward, stack, stack.kept, stack.full_on_repeats * element, cause);
  }

  void record_gradients(const Stack& stack) {
    const bool every_iteration = config_.shard_mode_explicit;
    between(Phase::backward, stack, stack.kept, stack.full_on_repeats * size_of(config_.weight_dtype),
            Cause::stack_gradients,
            every_iteration ? program_.program->pipeline.iterations() : 1);
    if (every_iteration || !compiler_.has(Habit::returns_moment_updates)) return;
    const AxisList data = config_.shard_optimizer_over_data ? mesh_.axes_of(AxisFamily::data) : AxisList{};
    const int moments = moment_count(block_.block->tensors[stack.weight], *block_.block, config_);
    for (int moment = 0; moment < moments; ++moment) record_moment(stack, data);
  }

  void record_moment(const Stack& stack, const AxisList& data) {
    const std::int64_t bytes = stack.shard_on_repeats * size_of(config_.weight_dtype) / mesh_.product(data);
    if (!data.empty())
      return move(Phase::optimizer, CollectiveKind::collective_permute, stages_and(data, stack.kept), bytes, stack,
                  Cause::stack_moment_to_data);
    constexpr Cause cause = Cause::stack_moment_to_stages;
    move(Phase::optimizer, CollectiveKind::all_to_all, program_.stage_axes, bytes, stack, cause);
    if (stack.kept.empty()) return;
    const AxisList gathered = stack.leaves_stages() ? AxisList{} : gathered_axes_;
    move(Phase::optimizer, CollectiveKind::collective_permute, stages_and(gathered, stack.kept), bytes, stack, cause);
  }

  const BoundProgram& program_;
  const Mesh& mesh_;
  const PartitionedBlock& block_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  Recorder& recorder_;
  AxisList gathered_axes_;
  std::int64_t layers_, stages_;
};

}  // namespace

std::vector<Collective> layer_stack_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                            const TrainConfig& config, const Compiler& compiler) {
  std::vector<Collective> all;
  if (program.program->step == StepKind::forward || !moves_layer_stack(program.program->pipeline, config)) return all;
  if (!compiler.has(Habit::moves_shifted_layer_stacks)) return all;
  for (const auto& block : blocks) {
    if (!block.block->in_pipeline) continue;
    Recorder recorder(*program.program, *block.block, *program.mesh);
    StackMoves moves(program, block, config, compiler, recorder);
    for (std::size_t i = 0; i < block.specs().size(); ++i)
      if (block.block->tensors[i].parameter) moves.record(i);
    const auto collectives = recorder.take();
    all.insert(all.end(), collectives.begin(), collectives.end());
  }
  return all;
}

}  // namespace shardplan
