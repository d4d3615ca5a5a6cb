#include <algorithm>
#include <cost_models/partition/layer_stack.hpp>
#include <cost_models/partition/recorder.hpp>

namespace shardplan {
namespace {

AxisList named_axes(const Mesh& mesh, std::initializer_list<const char*> names) {
  AxisList axes;
  for (const char* name : names)
    if (const auto axis = mesh.find(name); axis && mesh.size(*axis) > 1) axes.push_back(*axis);
  return axes;
}

/// The stacked copies of one weight that a stage holds, and its moves between stages and repeats.
class StackMoves {
 public:
  StackMoves(const BoundProgram& program, const PartitionedBlock& block, const TrainConfig& config,
             const CompilerHabits& habits, Recorder& recorder)
      : program_(program),
        mesh_(*program.mesh),
        block_(block),
        config_(config),
        habits_(habits),
        recorder_(recorder),
        gathered_axes_(named_axes(mesh_, {"fsdp", "fsdp_transpose"})),
        layers_(block.block->layers / program.program->pipeline.stages) {}

  void record(std::size_t tensor) {
    const Tensor& weight = block_.block->tensors[tensor];
    PartitionSpec whole = block_.specs[tensor];
    for (auto& axes : whole.dims) std::erase_if(axes, [&](AxisId axis) { return contains(gathered_axes_, axis); });
    const std::int64_t full = local_elements(weight.dims, whole, mesh_) * layers_;
    const std::int64_t shard = local_elements(weight.dims, block_.specs[tensor], mesh_) * layers_;
    record_weights(weight.name, full, shard);
    record_gradients(weight.name, full, shard);
  }

 private:
  void move(Phase phase, CollectiveKind kind, const AxisList& axes, std::int64_t bytes, const std::string& name,
            const char* why, std::int64_t executions = 1) {
    AxisList ordered = axes;
    std::sort(ordered.begin(), ordered.end());
    recorder_.record(phase, {kind, ordered, Bytes{bytes}, true}, "layer_stack/" + name, why, executions);
  }

  AxisList stages_and(const AxisList& axes) const {
    AxisList both = program_.stage_axes;
    both.insert(both.end(), axes.begin(), axes.end());
    return both;
  }

  void record_weights(const std::string& name, std::int64_t full, std::int64_t shard) {
    constexpr auto to_repeats = "all layer weights move from stages to repeats at the start of the step";
    constexpr auto to_stages = "and back to stages before the pipeline uses them";
    const std::int64_t stages = program_.program->pipeline.stages;
    if (!habits_.moves_stacks_in_compute_dtype) {  // XLA:GPU gathers and moves float32, casts later
      move(Phase::forward, CollectiveKind::all_to_all, program_.stage_axes, full * size_of(config_.weight_dtype), name,
           to_repeats);
      move(Phase::optimizer, CollectiveKind::all_to_all, program_.stage_axes, full * size_of(config_.weight_dtype),
           name, to_stages);
      return;
    }
    const std::int64_t element = size_of(config_.dtype);
    if (gathered_axes_.empty()) {
      move(Phase::forward, CollectiveKind::all_to_all, program_.stage_axes, full * element, name, to_repeats);
    } else {  // shards of all stages are gathered, then fsdp leaves and stages come in one dim at a time
      move(Phase::optimizer, CollectiveKind::all_gather, program_.stage_axes, shard * stages * element, name,
           to_repeats);
      move(Phase::forward, CollectiveKind::all_to_all, gathered_axes_, shard * stages * element, name, to_repeats);
      move(Phase::forward, CollectiveKind::collective_permute, stages_and(gathered_axes_), full * element, name,
           to_repeats);
    }
    move(Phase::optimizer, CollectiveKind::all_to_all, program_.stage_axes, full * element, name, to_stages);
  }

  void record_gradients(const std::string& name, std::int64_t full, std::int64_t shard) {
    const bool every_iteration = config_.shard_mode_explicit;
    move(Phase::backward, CollectiveKind::all_to_all, program_.stage_axes, full * size_of(config_.weight_dtype), name,
         "gradients of all layers move from stages to repeats",
         every_iteration ? program_.program->pipeline.iterations() : 1);
    if (every_iteration) return;
    const AxisList data = config_.shard_optimizer_over_data ? named_axes(mesh_, {"data"}) : AxisList{};
    for (int moment = 0; moment < 2; ++moment) {
      const std::int64_t bytes = shard * size_of(config_.weight_dtype) / mesh_.product(data);
      if (data.empty())
        move(Phase::optimizer, CollectiveKind::all_to_all, program_.stage_axes, bytes, name,
             "a moment's update goes back to the stages");
      else
        move(Phase::optimizer, CollectiveKind::collective_permute, stages_and(data), bytes, name,
             "a moment's update goes to its data shard");
    }
  }

  const BoundProgram& program_;
  const Mesh& mesh_;
  const PartitionedBlock& block_;
  const TrainConfig& config_;
  const CompilerHabits& habits_;
  Recorder& recorder_;
  AxisList gathered_axes_;
  std::int64_t layers_;
};

}  // namespace

bool moves_layer_stack(const PipelineShape& pipeline, const TrainConfig& config) {
  return pipeline.stages > 1 && pipeline.repeats > 1 && config.pipeline_fsdp_ag_once;
}

std::vector<Collective> layer_stack_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                            const TrainConfig& config, const CompilerHabits& habits) {
  std::vector<Collective> all;
  if (!moves_layer_stack(program.program->pipeline, config)) return all;
  for (const auto& block : blocks) {
    if (!block.block->in_pipeline) continue;
    Recorder recorder(*block.block, *program.mesh);
    StackMoves moves(program, block, config, habits, recorder);
    for (std::size_t i = 0; i < block.specs.size(); ++i)
      if (block.block->tensors[i].parameter) moves.record(i);
    const auto collectives = recorder.take();
    all.insert(all.end(), collectives.begin(), collectives.end());
  }
  return all;
}

}  // namespace shardplan
