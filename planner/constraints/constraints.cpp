#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <models/decoder_block.hpp>
#include <models/programs/train_program.hpp>
#include <planner/constraints/batch_split_constraints.hpp>
#include <planner/constraints/constraints.hpp>
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

Violation pipeline_layers(const Configuration& c) {
  const std::int64_t stages = pipeline_stages(c.mesh), per_stage = c.config.num_layers_per_pipeline_stage;
  if (stages == 1) return std::nullopt;
  const std::int64_t layers = c.config.pipeline_parallel_layers, repeats = c.config.num_pipeline_repeats;
  if (repeats < 1)
    return Infeasible{
        ConstraintId::pipeline_layers,
        fmt::format("{} of {} don't divide the {} in the pipeline", counted(stages, "stage"),
                    counted(per_stage, "layer"), counted(layers, "layer")),
        stages * per_stage, layers};
  if (stages * repeats * per_stage == layers) return std::nullopt;
  return Infeasible{ConstraintId::pipeline_layers,
                    fmt::format("{} x {} x {} a stage is {}, but {} in the pipeline", counted(stages, "stage"),
                                counted(repeats, "repeat"), counted(per_stage, "layer"),
                                counted(stages * repeats * per_stage, "layer"),
                                layers == 1 ? "1 is" : fmt::format("{} are", layers)),
                    stages * repeats * per_stage, layers};
}

Violation pipeline_layers_exist(const Configuration& c) {
  const bool dense_before = c.model.decoder_block.dense_layers_before_pipeline;
  const std::int64_t most = dense_before ? c.model.layers - c.model.first_dense_layers : c.model.layers;
  if (pipeline_stages(c.mesh) == 1 || c.config.pipeline_parallel_layers <= most) return std::nullopt;
  return Infeasible{
      ConstraintId::pipeline_layers,
      fmt::format("pipeline_parallel_layers={}, but {} has {}", c.config.pipeline_parallel_layers, c.model.name,
                  counted(most, dense_before ? "mixture-of-experts layer" : "layer")),
      c.config.pipeline_parallel_layers, most};
}

Violation pipeline_microbatches(const Configuration& c) {
  const std::int64_t stages = pipeline_stages(c.mesh), microbatches = c.config.num_pipeline_microbatches;
  if (stages == 1) return std::nullopt;
  if (microbatches % stages != 0)
    return Infeasible{ConstraintId::pipeline_microbatches,
                      fmt::format("{} are not a multiple of {}", counted(microbatches, "microbatch"),
                                  counted(stages, "stage")),
                      stages,
                      microbatches};
  if (c.config.pipeline_delay_activation_forwarding && microbatches < 2 * stages)
    return Infeasible{ConstraintId::pipeline_microbatches,
                      fmt::format("delayed forwarding over {} needs {}, not {}", counted(stages, "stage"),
                                  counted(2 * stages, "microbatch"), microbatches),
                      2 * stages, microbatches};
  return std::nullopt;
}

Violation pipeline_batch(const Configuration& c) {
  const std::int64_t batch = global_batch(c), microbatches = c.config.num_pipeline_microbatches;
  if (pipeline_stages(c.mesh) == 1 || batch % microbatches == 0) return std::nullopt;
  return Infeasible{ConstraintId::pipeline_batch,
                    fmt::format("{} can't be split into {}", counted(batch, "sequence"),
                                counted(microbatches, "microbatch")),
                    microbatches,
                    batch};
}

// MaxText configs/types.py: weight prefetching is for circular pipelines of single layers.
Violation pipeline_prefetch(const Configuration& c) {
  const auto& config = c.config;
  if (pipeline_stages(c.mesh) == 1 || !config.pipeline_fsdp_ag_per_repeat) return std::nullopt;
  if (config.num_pipeline_repeats <= 1)
    return Infeasible{ConstraintId::pipeline_prefetch, "pipeline_fsdp_ag_per_repeat needs at least 2 repeats, not 1", 2,
                      1};
  if (config.num_layers_per_pipeline_stage != 1)
    return Infeasible{
        ConstraintId::pipeline_prefetch,
        fmt::format("pipeline_fsdp_ag_per_repeat needs 1 layer a stage, not {}", config.num_layers_per_pipeline_stage),
        1, config.num_layers_per_pipeline_stage};
  if (config.pipeline_delay_activation_forwarding)
    return Infeasible{ConstraintId::pipeline_prefetch,
                      "pipeline_fsdp_ag_per_repeat excludes delayed activation forwarding", 0, 1};
  return std::nullopt;
}

Violation pipeline_remat(const Configuration& c) {
  const TrainConfig& config = c.config;
  const RematPolicy policy{config.remat_policy, config.saved, config.places_activations};
  if (pipeline_stages(c.mesh) == 1 || runs_in_pipelines(policy)) return std::nullopt;
  return Infeasible{ConstraintId::pipeline_remat,
                    fmt::format("remat_policy={} moves activations to the host, which MaxText can't combine with what a "
                                "pipeline saves itself: use one that keeps or recomputes them, or remat_policy=custom",
                                config.remat_policy),
                    1, 0};
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

Violation ring_of_experts(const Configuration& c) {
  if (c.config.moe_path != MoePath::ring || c.model.use_batch_split_schedule) return std::nullopt;
  if (c.model.hash_layers > 0)  // configs/types.py
    return Infeasible{ConstraintId::moe_path,
                      fmt::format("{} has layers whose experts a token's id picks, which use_ring_of_experts does not know",
                                  c.model.name),
                      1, 0};
  if (expert_shards(c) == 1)
    return Infeasible{ConstraintId::ring_needs_expert_parallelism,
                      "use_ring_of_experts needs experts on at least 2 devices, not 1", 2, 1};
  if (!c.config.has_grouped_kernel())
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
  if (!c.config.runs_sparse_experts() || c.config.ragged_buffer_factor <= 0) return std::nullopt;
  if (expert_shards(c) == 1)
    return Infeasible{ConstraintId::ragged_buffer, "ragged_buffer_factor needs experts on at least 2 devices, not 1", 2,
                      1};
  if (c.config.moe_path == MoePath::ring)
    return Infeasible{ConstraintId::ragged_buffer,
                      "ragged_buffer_factor with use_ring_of_experts needs use_ragged_sort, which is not modelled: leave "
                      "one of the two out",
                      1, 0};
  return std::nullopt;
}

// configs/types.py, the flags of expert parallelism; passed over under override_logical_axis_rules.
Violation random_routing(const Configuration& c) {
  if (!c.config.use_random_routing || c.rule_changes.override_rules || expert_shards(c) > 1) return std::nullopt;
  return Infeasible{ConstraintId::random_routing, "use_random_routing needs experts on at least 2 devices, not 1", 2, 1};
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
        fmt::format("{:g} tokens a device are no whole number, and MaxText takes no other, tiled or not", tokens), 1,
        static_cast<std::int64_t>(tokens)};
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

std::optional<Infeasible> first_violation_of_settings(const Configuration& configuration) {
  // Counts before the divisions that use them.
  return first_violation_of({batch_is_whole,
                             pipeline_layers_exist,
                             pipeline_layers,
                             pipeline_microbatches,
                             pipeline_batch,
                             pipeline_prefetch,
                             pipeline_remat,
                             kv_heads,
                             experts_divide,
                             ring_of_experts,
                             megablox_kernel,
                             random_routing,
                             ragged_buffer,
                             sparse_tensor_sequence,
                             context_violation,
                             attention_violation, batch_split_violation,
                             vocab_tiling,
                             explicit_sharding, explicit_window,
                             muon_decoder,
                             optimizer_over_data, quantization_violation},
                            configuration);
}

ParallelShape parallel_shape(const Configuration& c) {
  return {c.mesh.devices(), pipeline_stages(c.mesh), c.mesh.product(expert_axes(c.rules, c.mesh)),
          c.mesh.axes_of(AxisFamily::fsdp).size() > 1, c.compiler.habits};
}

Program program_of(const Configuration& c) { return train_program(c.model, c.config, parallel_shape(c)); }

std::optional<Infeasible> first_violation(const Configuration& configuration, const BoundProgram& program) {
  if (auto violation = first_violation_of_settings(configuration)) return violation;
  return indivisible_activation(program);
}

std::optional<Infeasible> first_violation(const Configuration& configuration) {
  if (auto violation = first_violation_of_settings(configuration)) return violation;
  const Program program = program_of(configuration);
  return indivisible_activation(bind_program(program, configuration.rules, configuration.mesh));
}

}  // namespace shardplan
