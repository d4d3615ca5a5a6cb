#include <fmt/format.h>

#include <algorithm>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/memory/state/least_memory.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/search/space/attempts.hpp>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/remat_order.hpp>
#include <rules/bind_program.hpp>
#include <utility>

namespace shardplan {
namespace {

void add_axes(std::string& text, const AxisList& axes, const Mesh& mesh) {
  for (const AxisId axis : axes) (text += mesh.axes[axis].name) += '.';
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
std::optional<Infeasible> stolen_expert_axis(const Configuration& c, const Binder& binder) {
  if (c.config.moe_path != MoePath::dropping || c.config.moe_dispatch_no_expert_sharding) return std::nullopt;
  const AxisList& experts = binder.expert_axes();
  const PartitionSpec dispatch = binder.resolve({"activation_exp", "activation_batch_moe", "", "activation_embed_moe"});
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
std::optional<Infeasible> sharding_violation(const SearchSpace& space, const Configuration& any, const Binder& binder) {
  if (auto violation = argument_violation(any)) return violation;
  if (auto violation = needless_ring(any)) return violation;
  return space.dispatch_peeled ? std::nullopt : stolen_expert_axis(any, binder);
}

/// Where the optimizer is, and in how many forward passes a step is made.
struct OptimizerChoice {
  bool over_data = false;
  std::int64_t passes = 1;
  bool operator==(const OptimizerChoice&) const = default;
};

/// Parameters that ZeRO-1 splits on a dim that takes data for itself, and on one that other axes split already.
struct SplitParameters {
  double apart = 0, joined = 0;
};

SplitParameters split_by_optimizer(const BoundProgram& bound, TrainConfig config) {
  config.shard_optimizer_over_data = true;
  SplitParameters split;
  for (std::size_t i = 0; i < bound.blocks.size(); ++i) {
    const Block& block = bound.program->blocks[i];
    for (std::size_t t = 0; t < block.tensors.size(); ++t) {
      const Tensor& weight = block.tensors[t];
      const auto& spec = bound.blocks[i].specs[t];
      if (!is_trained(weight) || weight.shared || !spec) continue;
      const auto layout = optimizer_layout(weight, *spec, block, bound.program->pipeline, *bound.mesh, config);
      if (layout.shards == 1) continue;
      (layout.joined.empty() ? split.apart : split.joined) +=
          static_cast<double>(elements_of(weight) * block.layers);
    }
  }
  return split;
}

/// Less than that of the parameters doesn't decide.
constexpr double few = 0.01;

/// ZeRO-1, on a mesh whose data axis holds copies of the optimizer. Where the update would gather most weights whole,
/// because data comes before axes of the same dim (optimizer_layout.hpp), it is tried in two passes alone, which have a
/// narrow copy for the loop and update the shards; where it would gather some, both ways.
std::vector<OptimizerChoice> spread_optimizers(const SearchSpace& space, const Configuration& c, const BoundProgram& bound) {
  if (!is_adam(c.config.opt_type)) return {};
  const SplitParameters split = split_by_optimizer(bound, c.config);
  if (split.apart + split.joined == 0) return {};  // the same program
  const std::int64_t passes = space.base.config.gradient_accumulation_steps;
  const bool mixes = updates_gathered_weights(c.config) && split.joined > few * (split.apart + split.joined);
  const bool open = mixes && !space.accumulation_fixed && space.searches_batch();
  std::vector<OptimizerChoice> choices;
  if (!open || split.joined <= split.apart) choices.push_back({true, passes});
  if (open) choices.push_back({true, 2});
  return choices;
}

/// So many partial sums of the queries' gradient never decided: of 63 requests (seven models on v5p, v6e and 7x, 4,096 to
/// 16,384 tokens) eight did for one by 9.9%, four for none (docs/planner.md).
constexpr std::int64_t few_partial_sums = 4;

/// On one mesh: the fastest that its kernels take, and of that size two kernels for the gradients where one leaves many
/// partial sums. The request's own where there is no choice. `on_mesh` is left with one of them.
std::vector<std::optional<SplashBlocks>> attention_choices(const SearchSpace& space, Configuration& on_mesh) {
  for (const SplashBlocks& blocks : space.attention_blocks) {
    on_mesh.config = with_splash_blocks(std::move(on_mesh.config), blocks);
    if (attention_violation(on_mesh)) continue;
    const PartialGradients sums = partial_query_gradients(on_mesh.config, on_mesh.config.max_target_length);
    const bool has_second = blocks.fused && !on_mesh.config.runs_tokamax_splash();
    if (!has_second || sums.count <= few_partial_sums) return {blocks};
    return {blocks, SplashBlocks{blocks.size, false}};
  }
  return {std::nullopt};
}

/// One that the mesh can run under, if there is any: no other constraint depends on the policy.
const RematPolicy& first_policy(const SearchSpace& space, const Mesh& mesh) {
  const auto policies = policies_with(space, pipeline_stages(mesh));
  return space.remat_policies[policies.empty() ? 0 : policies.front()];
}

/// Attempts under one sharding: no tensor of the layers depends on the schedule or on the optimizer's place.
class Attempts {
 public:
  /// `any` is a configuration with the rules and the mesh of `parallelism`.
  Attempts(const SearchSpace& space, const Parallelism& parallelism, const Binder& binder, bool spreads_optimizer,
           Configuration& any)
      : space_(space),
        parallelism_(parallelism),
        binder_(binder),
        spreads_optimizer_(spreads_optimizer && !space.optimizer_over_data_fixed &&
                           parallelism.mesh.size_of(AxisRole::data) > 1),
        smallest_(any),
        shards_(batch_shards(any.rules, parallelism.mesh)) {
    set_config(smallest_, space, parallelism, first_policy(space, parallelism.mesh), {1, 1});
    violation_ = sharding_violation(space, smallest_, binder);
  }

  std::vector<Attempt> all() {
    if (violation_) return {{parallelism_, nullptr, violation_}};
    std::vector<Attempt> attempts;
    for (const auto& blocks : attention_choices(space_, smallest_)) {
      parallelism_.attention_blocks = blocks;
      set_config(smallest_, space_, parallelism_, first_policy(space_, parallelism_.mesh), {1, 1});
      add_schedules(attempts);
    }
    return attempts;
  }

 private:
  void add_schedules(std::vector<Attempt>& attempts) {
    const TrainConfig& given = space_.base.config;
    const bool fixed = space_.optimizer_over_data_fixed && given.shard_optimizer_over_data;
    for (const PipelineSchedule& schedule : pipeline_schedules(space_, parallelism_.mesh)) {
      attempts.push_back(with(schedule, {fixed, given.gradient_accumulation_steps}));
      if (attempts.back().violation || !spreads_optimizer_) continue;
      for (const OptimizerChoice& choice : spread_optimizers(space_, smallest_, bound_))
        attempts.push_back(with(schedule, choice));
    }
  }

  Attempt with(const PipelineSchedule& schedule, const OptimizerChoice& optimizer) {
    Parallelism p = parallelism_;
    p.schedule = schedule;
    p.optimizer_over_data = optimizer.over_data;
    TrainConfig& config = smallest_.config;
    set_schedule(config, schedule, smallest_.model, pipeline_stages(p.mesh));
    config.shard_optimizer_over_data = optimizer.over_data;
    const std::int64_t unit = batch_unit(smallest_.model, shards_, p.mesh, config);
    p.batches = batch_options(space_, p.mesh, unit, optimizer.passes);
    take(p.batches.front());
    auto violation = violation_of_settings();
    if (violation && drop_refused(p.batches)) violation = violation_of_settings();
    if (!violation) violation = violation_of_smallest();
    if (!violation) p.least_memory = least_memory_under(optimizer);
    return {std::move(p), shardings_, std::move(violation)};
  }

  void take(const BatchOption& batch) {
    smallest_.config.per_device_batch_size = batch.per_device_batch_size;
    smallest_.config.gradient_accumulation_steps = batch.gradient_accumulation_steps;
  }

  /// Where the smallest is refused for what it is (tokens that no tiles divide, passes that a quantization doesn't take):
  /// leaves those that aren't, and takes their first. Where it isn't no other is, since it divides them.
  bool drop_refused(std::vector<BatchOption>& batches) {
    if (!first_violation_of_schedule(smallest_)) return false;
    std::vector<BatchOption> allowed;
    for (const BatchOption& batch : batches) {
      take(batch);
      if (!first_violation_of_schedule(smallest_)) allowed.push_back(batch);
    }
    if (!allowed.empty()) batches = std::move(allowed);
    take(batches.front());
    return true;
  }

  /// Where the batch is searched, each is so many units as make a microbatch of its schedule: what divides one divides all.
  bool is_known_to_divide() const {
    const bool spreads_by_schedule = spreads_optimizer_ && !smallest_.config.shard_optimizer_over_data;
    return shardings_ && space_.searches_batch() && !spreads_by_schedule;
  }

  std::optional<Infeasible> too_many_tokens() const {
    if (!space_.searches_batch()) return std::nullopt;
    const std::int64_t tokens =
        global_batch(smallest_) * smallest_.config.gradient_accumulation_steps * smallest_.config.max_target_length;
    if (tokens <= space_.max_batch_tokens) return std::nullopt;
    return Infeasible{ConstraintId::batch_tokens,
                      fmt::format("a step has {} tokens at least on mesh {}, more than {} (--max-batch-tokens)", tokens,
                                  describe(smallest_.mesh), space_.max_batch_tokens),
                      tokens, space_.max_batch_tokens};
  }

  /// No schedule changes it.
  Bytes least_memory_under(const OptimizerChoice& optimizer) {
    const auto known = std::find_if(least_memory_.begin(), least_memory_.end(),
                                    [&](const auto& entry) { return entry.first == optimizer; });
    if (known != least_memory_.end()) return known->second;
    return least_memory_.emplace_back(optimizer, least_memory(bound_, smallest_.config)).second;
  }

  std::optional<Infeasible> violation_of_settings() {
    if (is_allowed_) return first_violation_of_schedule(smallest_);
    auto violation = first_violation_of_settings(smallest_);
    is_allowed_ = !violation;
    return violation;
  }

  /// Of one whose settings are allowed.
  std::optional<Infeasible> violation_of_smallest() {
    if (auto violation = too_many_tokens()) return violation;  // now: what has fewest of them is said to be nearest
    if (is_known_to_divide()) return std::nullopt;
    const auto before = std::exchange(program_, space_.programs->program_of(smallest_));
    const bool alike = before && before->constraints == program_->constraints;
    bound_ = alike ? Binder::rebind(program_->program, std::move(bound_))
                   : binder_.bind(program_->program, program_->constraints, smallest_.mesh);
    auto violation = refused_activation(bound_);
    if (!violation && !shardings_) shardings_ = std::make_shared<const std::string>(shardings_of(smallest_, bound_));
    return violation;
  }

  const SearchSpace& space_;
  Parallelism parallelism_;
  const Binder& binder_;
  bool spreads_optimizer_;
  Configuration& smallest_;  // changed from attempt to attempt
  BatchShards shards_;
  std::optional<Infeasible> violation_;
  bool is_allowed_ = false;  ///< settings that no schedule changes
  std::vector<std::pair<OptimizerChoice, Bytes>> least_memory_;
  std::shared_ptr<const CountedProgram> program_;
  BoundProgram bound_;  // of program_
  std::shared_ptr<const std::string> shardings_;
};

/// With and without moe_dispatch_no_expert_sharding where it could matter.
std::vector<bool> dispatch_choices(const SearchSpace& space, const RuleSet& rules, const Mesh& mesh, MoePath path) {
  if (path != MoePath::dropping) return {false};
  if (space.dispatch_peeled) return {*space.dispatch_peeled};
  return expert_axes(rules, mesh).empty() ? std::vector<bool>{false} : std::vector<bool>{false, true};
}

}  // namespace

std::vector<Attempt> attempts_under(const SearchSpace& space, std::size_t rules, const Mesh& mesh, bool spreads_optimizer) {
  std::vector<Attempt> attempts;
  if (space.moe_paths.empty()) return attempts;
  const RuleSet& in_force = rules_on(space, rules, mesh);
  const auto binder = binder_on(space, rules, mesh);
  const Parallelism first{rules, mesh, space.moe_paths.front(), false, {}, false, {}, 0, 0};
  const LentConfiguration any = lend_configuration(space, first, first_policy(space, mesh), {1, 1});
  for (const MoePath path : space.moe_paths)
    for (const bool dispatch_peeled : dispatch_choices(space, in_force, mesh, path)) {
      const Parallelism parallelism{rules, mesh, path, dispatch_peeled, {}, false, {}, 0, 0};
      for (auto& made : Attempts(space, parallelism, *binder, spreads_optimizer, *any).all())
        attempts.push_back(std::move(made));
    }
  return attempts;
}

}  // namespace shardplan
