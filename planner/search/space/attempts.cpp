#include <fmt/format.h>

#include <algorithm>
#include <planner/constraints/constraints.hpp>
#include <planner/search/space/attempts.hpp>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/remat_order.hpp>
#include <rules/bind_program.hpp>
#include <rules/resolve.hpp>
#include <utility>

namespace shardplan {
namespace {

void add_axes(std::string& text, const AxisList& axes, const Mesh& mesh) {
  for (const AxisId axis : axes) text += mesh.axes[axis].name + '.';
  text += ',';
}

/// Path, then the spec of every tensor in program order.
std::string shardings_of(const Configuration& c, const BoundProgram& bound) {
  std::string text(name_of(c.config.moe_path));
  for (const auto& block : bound.blocks)
    for (const auto& spec : block.specs) {
      text += spec ? ';' : '?';
      if (spec)
        for (const auto& axes : spec->dims) add_axes(text, axes, c.mesh);
    }
  add_axes(text, bound.expert_axes, c.mesh);
  return text;
}

/// A ring over experts that every device has. MaxText accepts it where rule `exp` names fsdp, which only splits the
/// stored weights (shard-exp-on-fsdp).
std::optional<Infeasible> needless_ring(const Configuration& c) {
  if (c.config.moe_path != MoePath::ring || c.model.use_batch_split_schedule) return std::nullopt;
  if (!expert_axes(c.rules, c.mesh).empty()) return std::nullopt;
  return Infeasible{ConstraintId::ring_needs_expert_parallelism,
                    fmt::format("use_ring_of_experts on {}: every device has all experts", describe(c.mesh)), 2, 1};
}

/// The double-mapping of SHARDING.md 1.6 is never planned unless it is asked for: with the flag the same mesh exchanges
/// tokens instead of gathering every expert's weights.
std::optional<Infeasible> stolen_expert_axis(const Configuration& c) {
  if (c.config.moe_path != MoePath::dropping || c.config.moe_dispatch_no_expert_sharding) return std::nullopt;
  const AxisList experts = expert_axes(c.rules, c.mesh);
  const PartitionSpec dispatch =
      resolve({"activation_exp", "activation_batch_moe", "", "activation_embed_moe"}, c.rules, c.mesh);
  const auto on_batch = [&](AxisId axis) {
    return std::count(dispatch.dims[1].begin(), dispatch.dims[1].end(), axis) > 0;
  };
  if (std::none_of(experts.begin(), experts.end(), on_batch)) return std::nullopt;
  return Infeasible{
      ConstraintId::expert_axis_stolen,
      fmt::format("{} on {}: the batch dim of the dispatch takes the expert axis, so expert weights would be "
                  "gathered; planned with moe_dispatch_no_expert_sharding instead",
                  c.rules.name, describe(c.mesh)),
      1, 0};
}

/// What holds for every schedule and batch.
std::optional<Infeasible> sharding_violation(const SearchSpace& space, const Configuration& any) {
  if (auto violation = needless_ring(any)) return violation;
  return space.dispatch_peeled ? std::nullopt : stolen_expert_axis(any);
}

/// With and without ZeRO-1 where data holds copies of the optimizer and fsdp doesn't split it: where it does, the data
/// axis goes before fsdp's and every weight changes places (SHARDING.md section 3.4).
std::vector<bool> optimizer_choices(const SearchSpace& space, const Mesh& mesh) {
  const TrainConfig& config = space.base.config;
  if (space.optimizer_over_data_fixed) return {config.shard_optimizer_over_data};
  const bool adam = config.opt_type == OptimizerType::adamw || config.opt_type == OptimizerType::adam_pax;
  const bool copies = mesh.size_of("data") > 1;
  return adam && copies ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

std::string text_of(const PipelineSchedule& schedule, bool optimizer_over_data) {
  return fmt::format(" {}x{} {} {} {}", schedule.repeats, schedule.layers_per_stage, schedule.microbatches,
                     schedule.gathered_once, optimizer_over_data);
}

/// One that the mesh can run under, if there is any: no other constraint depends on the policy.
const RematPolicy& first_policy(const SearchSpace& space, const Mesh& mesh) {
  const auto policies = policies_with(space, pipeline_stages(mesh));
  return space.remat_policies[policies.empty() ? 0 : policies.front()];
}

/// Attempts under one sharding: no tensor of the layers depends on the schedule or on the optimizer's place.
class Attempts {
 public:
  Attempts(const SearchSpace& space, const Parallelism& parallelism, const Binder& binder)
      : space_(space),
        parallelism_(parallelism),
        binder_(binder),
        smallest_(configuration_of(space, parallelism, first_policy(space, parallelism.mesh), {1, 1})),
        violation_(sharding_violation(space, smallest_)) {}

  std::vector<Attempt> all() {
    if (violation_) return {{parallelism_, "", violation_}};
    std::vector<Attempt> attempts;
    for (const PipelineSchedule& schedule : pipeline_schedules(space_, parallelism_.mesh))
      for (const bool over_data : optimizer_choices(space_, parallelism_.mesh))
        attempts.push_back(with(schedule, over_data));
    return attempts;
  }

 private:
  Attempt with(const PipelineSchedule& schedule, bool optimizer_over_data) {
    Parallelism p = parallelism_;
    p.schedule = schedule;
    p.optimizer_over_data = optimizer_over_data;
    TrainConfig& config = smallest_.config;
    config = with_schedule(config, schedule, smallest_.model, pipeline_stages(p.mesh));
    config.shard_optimizer_over_data = optimizer_over_data;
    p.batches = batch_options(space_, p.mesh, batch_unit(smallest_.model, smallest_.rules, p.mesh, config));
    config.per_device_batch_size = p.batches.front().per_device_batch_size;
    config.gradient_accumulation_steps = p.batches.front().gradient_accumulation_steps;
    auto violation = violation_of_smallest();
    return {std::move(p), shardings_ + text_of(schedule, optimizer_over_data), std::move(violation)};
  }

  std::optional<Infeasible> too_many_tokens() const {
    if (space_.per_device_batch || space_.global_batch_tokens) return std::nullopt;
    const std::int64_t tokens =
        global_batch(smallest_) * smallest_.config.gradient_accumulation_steps * smallest_.config.max_target_length;
    if (tokens <= space_.max_batch_tokens) return std::nullopt;
    return Infeasible{ConstraintId::batch_tokens,
                      fmt::format("a step has {} tokens at least on mesh {}, more than {} (--max-batch-tokens)", tokens,
                                  describe(smallest_.mesh), space_.max_batch_tokens),
                      tokens, space_.max_batch_tokens};
  }

  std::optional<Infeasible> violation_of_smallest() {
    if (auto violation = too_many_tokens()) return violation;
    if (auto violation = first_violation_of_settings(smallest_)) return violation;
    const auto before = std::exchange(program_, space_.programs->program_of(smallest_));
    const bool alike = before && before->constraints == program_->constraints;
    bound_ = alike ? binder_.rebind(program_->program, std::move(bound_)) : binder_.bind(program_->program);
    auto violation = indivisible_activation(bound_);
    if (!violation && shardings_.empty()) shardings_ = shardings_of(smallest_, bound_);
    return violation;
  }

  const SearchSpace& space_;
  const Parallelism& parallelism_;
  const Binder& binder_;
  Configuration smallest_;  // changed from attempt to attempt: copying model and machine costs more than the checks
  std::optional<Infeasible> violation_;
  std::shared_ptr<const CountedProgram> program_;
  BoundProgram bound_;  // of program_
  std::string shardings_;
};

/// With and without moe_dispatch_no_expert_sharding where it could matter.
std::vector<bool> dispatch_choices(const SearchSpace& space, const RuleSet& rules, const Mesh& mesh, MoePath path) {
  if (path != MoePath::dropping) return {false};
  if (space.dispatch_peeled) return {*space.dispatch_peeled};
  return expert_axes(rules, mesh).empty() ? std::vector<bool>{false} : std::vector<bool>{false, true};
}

}  // namespace

std::vector<Attempt> attempts_under(const SearchSpace& space, std::size_t rules, const Mesh& mesh) {
  std::vector<Attempt> attempts;
  const RuleSet& in_force = rules_on(space, rules, mesh);
  const Binder binder(in_force, mesh);
  for (const MoePath path : space.moe_paths)
    for (const bool dispatch_peeled : dispatch_choices(space, in_force, mesh, path)) {
      const Parallelism parallelism{rules, mesh, path, dispatch_peeled, {}, false, {}, 0, 0};
      for (auto& made : Attempts(space, parallelism, binder).all()) attempts.push_back(std::move(made));
    }
  return attempts;
}

}  // namespace shardplan
