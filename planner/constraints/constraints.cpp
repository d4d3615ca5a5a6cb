#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <models/decoder_block.hpp>
#include <models/programs/train_program.hpp>
#include <planner/constraints/batch_split_constraints.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/constraints/pipeline_constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <rules/bind_program.hpp>
#include <rules/resolve.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

std::int64_t expert_shards(const Configuration& c) {
  return c.mesh.product(axes_of_rule(c.rules, c.mesh, expert_rule(c.rules)));
}

// MaxText truncates int(N · per_device_batch_size); a plan must not depend on what is cut off.
Violation batch_is_whole(const Configuration& c) {
  const double batch = sequences_in_a_pass(c.config, c.mesh.devices());
  if (batch >= 1 && batch == std::floor(batch)) return std::nullopt;
  return Infeasible{ConstraintId::batch,
                    fmt::format("per_device_batch_size={} on {} is {}, not a whole number above 0",
                                c.config.per_device_batch_size, counted(c.mesh.devices(), "device"),
                                counted(batch, "sequence")),
                    1, static_cast<std::int64_t>(batch)};
}

// GQA only (MaxText layers/attentions.py, _validate_kv_head_sharding).
Violation kv_heads(const Configuration& c) {
  const std::int64_t shards =
      c.mesh.product(c.mesh.axes_of(AxisFamily::tensor)) * c.mesh.size_of(AxisRole::autoregressive);
  if (c.model.attention_type == AttentionType::mla || c.model.common_kv_heads() % shards == 0) return std::nullopt;
  return Infeasible{ConstraintId::kv_heads,
                    fmt::format("{} can't be split over tensor·tensor_sequence·autoregressive = {}",
                                counted(c.model.common_kv_heads(), "KV head"), shards),
                    shards, c.model.common_kv_heads()};
}

Violation experts_divide(const Configuration& c) {
  const std::int64_t shards = expert_shards(c);
  if (!c.model.has_experts() || c.model.num_experts % shards == 0) return std::nullopt;
  return Infeasible{ConstraintId::expert_divisibility,
                    fmt::format("{} can't be split over {} (rule exp)", counted(c.model.num_experts, "expert"),
                                counted(shards, "device")),
                    shards, c.model.num_experts};
}

/// configs/types.py, the flags of expert parallelism (_ep_disabled_flags): MaxText checks them of every model and on every
/// path, but under override_logical_axis_rules.
bool refuses_expert_flags(const Configuration& c) { return !c.rule_changes.override_rules && expert_shards(c) == 1; }

Violation ring_of_experts(const Configuration& c) {
  const bool runs = c.config.moe_path == MoePath::ring && !c.model.use_batch_split_schedule;
  if (!runs && !c.config.idle_ring_of_experts) return std::nullopt;
  if (c.model.hash_layers > 0)  // configs/types.py
    return Infeasible{ConstraintId::moe_path,
                      fmt::format("{} has layers whose experts a token's id picks, which use_ring_of_experts does not know",
                                  c.model.name),
                      1, 0};
  if (runs ? expert_shards(c) == 1 : refuses_expert_flags(c))
    return Infeasible{ConstraintId::ring_needs_expert_parallelism,
                      fmt::format("use_ring_of_experts needs experts on at least 2 devices, not 1{}",
                                  runs ? "" : ", and this run has no ring: leave it out"),
                      2, 1};
  if (runs && !c.config.has_grouped_kernel())
    return Infeasible{ConstraintId::ring_needs_megablox,
                      "use_ring_of_experts needs megablox: jax.lax.ragged_dot fails under it", 1, 0};
  return std::nullopt;
}

/// megablox's grouped matmul is a Pallas kernel for TPUs; elsewhere the sparse path runs jax.lax.ragged_dot.
Violation megablox_kernel(const Configuration& c) {
  if (!c.config.runs_sparse_experts() || !c.config.megablox || c.compiler.kernels.has_megablox) return std::nullopt;
  return Infeasible{ConstraintId::megablox_needs_tpu,
                    fmt::format("megablox is a TPU kernel and doesn't run on {}: set megablox=False", c.hardware.name),
                    1, 0};
}

Violation ragged_buffer(const Configuration& c) {
  const double factor = c.config.ragged_buffer_factor;
  const bool runs = c.config.runs_sparse_experts() && factor > 0;
  if (runs ? expert_shards(c) == 1 : factor != TrainConfig{}.ragged_buffer_factor && refuses_expert_flags(c))
    return Infeasible{ConstraintId::ragged_buffer,
                      fmt::format("ragged_buffer_factor needs experts on at least 2 devices, not 1{}",
                                  runs ? "" : ", and this run has no such buffer: leave it out"),
                      2, 1};
  const bool asks_for_ring = c.config.moe_path == MoePath::ring || c.config.idle_ring_of_experts;
  if (c.model.has_experts() && factor > 0 && asks_for_ring && !c.config.use_ragged_sort)  // validate_ragged_buffer_factor
    return Infeasible{ConstraintId::ragged_buffer,
                      "ragged_buffer_factor with use_ring_of_experts needs use_ragged_sort=true", 1, 0};
  return std::nullopt;
}

Violation ragged_sort(const Configuration& c) {
  if (!c.config.use_ragged_sort || !refuses_expert_flags(c)) return std::nullopt;
  return Infeasible{ConstraintId::ragged_buffer, "use_ragged_sort needs experts on at least 2 devices, not 1", 2, 1};
}

Violation random_routing(const Configuration& c) {
  if (!c.config.use_random_routing || !refuses_expert_flags(c)) return std::nullopt;
  return Infeasible{ConstraintId::random_routing,
                    "use_random_routing needs experts on at least 2 devices, not 1: set use_random_routing=false, which "
                    "costs the same, or split experts (MaxText took it before July 2026, its commit f8ff00a77)",
                    2, 1};
}

// The expert weights are split over tensor_sequence and nothing sums over it: MaxText computes a wrong result.
Violation sparse_tensor_sequence(const Configuration& c) {
  const int size = c.mesh.size_of(AxisRole::tensor_sequence);
  if (!c.config.runs_sparse_experts() || size == 1) return std::nullopt;
  return Infeasible{
      ConstraintId::sparse_tensor_sequence,
      fmt::format("sparse_matmul with tensor_sequence={} gives wrong results in MaxText; use tensor", size), 1, size};
}

// MaxText configs/types.py checks per_device_batch_size · max_target_length % num_vocab_tiling, of one tile too.
Violation vocab_tiling(const Configuration& c) {
  const double tokens = c.config.per_device_batch_size * static_cast<double>(c.config.max_target_length);
  if (std::fmod(tokens, static_cast<double>(c.config.num_vocab_tiling)) == 0) return std::nullopt;
  if (c.config.num_vocab_tiling == 1)
    return Infeasible{
        ConstraintId::vocab_tiling,
        fmt::format("{} of {} on a device are {:g} tokens, no whole number, and MaxText takes no other, tiled or not",
                    counted(c.config.per_device_batch_size, "sequence"), counted(c.config.max_target_length, "token"),
                    tokens),
        1, static_cast<std::int64_t>(tokens)};
  return Infeasible{
      ConstraintId::vocab_tiling,
      fmt::format("{:g} tokens a device can't be split into {} vocabulary tiles", tokens, c.config.num_vocab_tiling),
      c.config.num_vocab_tiling, static_cast<std::int64_t>(tokens)};
}

Violation explicit_sharding(const Configuration& c) {
  if (!c.config.shard_mode_explicit || c.model.decoder_block.explicit_sharding) return std::nullopt;
  return Infeasible{
      ConstraintId::explicit_sharding,
      fmt::format("shard_mode=explicit knows the decoders {}, not {}",
                  fmt::join(decoder_blocks_with(&DecoderBlock::explicit_sharding), ", "), c.model.decoder_block.name),
      1, 0};
}

// layers/embeddings.py, LLaMARotaryEmbedding: it selects features by a mask that lies on no axis, and JAX wants the mask of
// a select where its cases are.
Violation explicit_rotation(const Configuration& c) {
  if (!c.config.shard_mode_explicit || !c.model.interleaved_rotation || c.mesh.devices() == 1) return std::nullopt;
  return Infeasible{ConstraintId::explicit_sharding,
                    fmt::format("shard_mode=explicit does not trace the rotary positions of {} (rope_type llama3.1)",
                                c.model.name),
                    1, 0};
}

// Of pipelines in explicit mode the one that does not even trace once the others are repaired (docs/cost-model.md).
Violation explicit_window(const Configuration& c) {
  if (!c.config.shard_mode_explicit || !c.config.pipeline_fsdp_ag_per_repeat || pipeline_stages(c.mesh) == 1)
    return std::nullopt;
  return Infeasible{ConstraintId::explicit_sharding,
                    "shard_mode=explicit with pipeline_fsdp_ag_per_repeat names 'stage' twice in one sharding: MaxText "
                    "does not trace it",
                    1, 0};
}

Violation muon_decoder(const Configuration& c) {
  if (c.config.opt_type != OptimizerType::muon || c.model.decoder_block.muon) return std::nullopt;
  return Infeasible{ConstraintId::muon_decoder,
                    fmt::format("opt_type=muon knows the decoders {}, not {}",
                                fmt::join(decoder_blocks_with(&DecoderBlock::muon), ", "), c.model.decoder_block.name),
                    1, 0};
}

Violation optimizer_over_data(const Configuration& c) {
  if (!c.config.shard_optimizer_over_data || is_adam(c.config.opt_type)) return std::nullopt;
  return Infeasible{
      ConstraintId::optimizer_over_data,
      fmt::format("shard_optimizer_over_data needs adamw or adam_pax, not {}", name_of(c.config.opt_type)), 1, 0};
}

}  // namespace

std::optional<Infeasible> argument_violation(const Configuration& configuration) {
  const StartCondition* broken = broken_condition(configuration);
  if (!broken) return std::nullopt;
  return Infeasible{ConstraintId::given_argument, fmt::format("{}: {}", broken->place, broken->reason), 1, 0};
}

namespace {

/// Whether a pipeline's schedule, the batch, its passes or the optimizer's place may break it.
enum class Schedule : std::uint8_t { matters, does_not_matter };

struct Check {
  Violation (*violation)(const Configuration&);
  Schedule schedule = Schedule::does_not_matter;
};

// Counts before the divisions that use them.
constexpr Check checks[] = {{argument_violation, Schedule::matters},
                            {batch_is_whole, Schedule::matters},
                            {pipeline_violation, Schedule::matters},
                            {kv_heads},
                            {experts_divide},
                            {ring_of_experts},
                            {megablox_kernel},
                            {random_routing},
                            {ragged_buffer},
                            {ragged_sort},
                            {sparse_tensor_sequence},
                            {context_violation},
                            {attention_violation},
                            {batch_split_violation, Schedule::matters},
                            {vocab_tiling, Schedule::matters},
                            {explicit_sharding},
                            {explicit_rotation},
                            {explicit_window},
                            {muon_decoder},
                            {optimizer_over_data, Schedule::matters},
                            {quantization_violation, Schedule::matters},
                            {linen_violation},
                            {token_prediction_violation}};

template <class Which>
Violation first_violation_where(Which which, const Configuration& configuration) {
  for (const Check& check : checks)
    if (which(check))
      if (auto violation = check.violation(configuration)) return violation;
  return std::nullopt;
}

}  // namespace

std::optional<Infeasible> violation_under_every_policy(const Configuration& configuration) {
  return first_violation_where([](const Check&) { return true; }, configuration);
}

std::optional<Infeasible> violation_of_policy(const Configuration& configuration) {
  return pipeline_policy_violation(configuration);
}

std::optional<Infeasible> first_violation_of_settings(const Configuration& configuration) {
  if (auto violation = violation_under_every_policy(configuration)) return violation;
  return violation_of_policy(configuration);
}

std::optional<Infeasible> first_violation_of_schedule(const Configuration& configuration) {
  const auto matters = [](const Check& check) { return check.schedule == Schedule::matters; };
  if (auto violation = first_violation_where(matters, configuration)) return violation;
  return violation_of_policy(configuration);
}

ParallelShape parallel_shape(const Configuration& c) {
  return {c.mesh.devices(), pipeline_stages(c.mesh), c.mesh.product(expert_axes(c.rules, c.mesh)),
          c.mesh.axes_of(AxisFamily::fsdp).size() > 1, c.compiler.habits};
}

Program program_of(const Configuration& c) { return train_program(c.model, c.config, parallel_shape(c)); }

std::optional<Infeasible> violation_under_every_policy(const Configuration& configuration, const BoundProgram& program) {
  if (auto violation = violation_under_every_policy(configuration)) return violation;
  return refused_activation(program);
}

std::optional<Infeasible> first_violation(const Configuration& configuration) {
  if (auto violation = first_violation_of_settings(configuration)) return violation;
  const Program program = program_of(configuration);
  return refused_activation(bind_program(program, configuration.rules, configuration.mesh));
}

}  // namespace shardplan
