#include <algorithm>
#include <cost_models/blocks/partition_block.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/prepared_mesh.hpp>

namespace shardplan {

const PreparedMesh::Step& PreparedMesh::step(const Configuration& c) { return find_or_add_step(c); }

const PreparedMesh::Step& PreparedMesh::partitioned_step(const Configuration& c) {
  Step& step = find_or_add_step(c);
  const bool come_again = links_ == Links::several || step.program().pipeline.stages > 1;
  repartition(step.blocks, step.bound, c.config, c.compiler, come_again ? &known_blocks_ : nullptr);
  return step;
}

PreparedMesh::Choice PreparedMesh::choice_of(const Configuration& c) {
  if (!binder_) binder_ = std::make_shared<const Binder>(c.rules, c.mesh);
  const TrainConfig& config = c.config;
  return {config.per_device_batch_size,
          config.gradient_accumulation_steps,
          config.num_pipeline_microbatches,
          config.num_pipeline_repeats,
          config.num_layers_per_pipeline_stage,
          config.pipeline_fsdp_ag_once,
          config.shard_optimizer_over_data,
          config.moe_dispatch_no_expert_sharding,
          splash_blocks_in(config),
          c.mesh.group_size(binder_->expert_axes(), GroupSpan::between_slices)};
}

PreparedMesh::Step& PreparedMesh::find_or_add_step(const Configuration& c) {
  const Choice choice = choice_of(c);
  for (Step& known : steps_)
    if (known.choice == choice) return known;
  return add_step(c, programs_ ? programs_->program_of(c) : counted(program_of(c)));
}

const PreparedMesh::Step& PreparedMesh::step(const Configuration& c, Program program) {
  return add_step(c, counted(std::move(program)));
}

std::optional<Infeasible> PreparedMesh::violation(const Configuration& c, const Step& step) {
  for (auto& [known, violation] : violations_)
    if (known == &step) return violation;
  return violations_.emplace_back(&step, violation_under_every_policy(c, step.bound)).second;
}

PreparedMesh::Step& PreparedMesh::add_step(const Configuration& c, std::shared_ptr<const CountedProgram> counted) {
  const Choice choice = choice_of(c);
  const auto alike = std::find_if(steps_.begin(), steps_.end(), [&](const Step& known) {
    return known.counted->constraints == counted->constraints;
  });
  BoundProgram bound =
      alike == steps_.end() ? binder_->bind(counted->program, counted->constraints, c.mesh)
                                             : Binder::rebind(counted->program, alike->bound);
  Step& step = steps_.emplace_back();
  step.choice = choice;
  step.counted = std::move(counted);
  step.bound = std::move(bound);
  return step;
}

void PreparedMesh::leave_links() {
  violations_.clear();
  place_.reset();
  networks_.clear();
}

MeshPlace& PreparedMesh::place(const Configuration& c) {
  if (!place_) place_ = places_ ? places_->place_of(c) : std::make_shared<MeshPlace>(c);
  return *place_;
}

const std::optional<Infeasible>& PreparedMesh::misfit(const Configuration& c) { return place(c).misfit(); }

const GroupNetwork& PreparedMesh::network(const Configuration& c, const AxisList& axes, GroupSpan span) {
  for (const KnownNetwork& known : networks_)
    if (known.axes == axes && known.span == span) return *known.network;
  return *networks_.emplace_back(KnownNetwork{axes, span, &place(c).network(axes, span)}).network;
}

}  // namespace shardplan
