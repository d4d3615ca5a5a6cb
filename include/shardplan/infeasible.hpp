#pragma once
// Why a configuration can't be run: a value with numbers, not an error.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shardplan {

/// What a configuration can break. The published ids (name_of) are stable: scripts match them.
enum class ConstraintId : std::uint8_t {
  hbm,  ///< the device's memory
  // Sizes that don't divide.
  batch,
  batch_divisibility,
  sequence_divisibility,
  expert_divisibility,
  indivisible_dim,
  kv_heads,
  vocab_tiling,
  // Pipelines.
  pipeline_layers,
  pipeline_layers_differ,
  pipeline_microbatches,
  pipeline_batch,
  pipeline_prefetch,
  pipeline_remat,
  // Mixtures of experts.
  moe_path,
  ring_needs_expert_parallelism,
  ring_needs_megablox,
  megablox_needs_tpu,
  ragged_buffer,
  random_routing,
  sparse_tensor_sequence,
  expert_axis_stolen,
  dispatch_names_axis_twice,
  batch_split,
  // Settings that exclude each other.
  given_argument,  ///< one of the arguments, with what was chosen beside it
  attention_kernel,
  packing,
  context_load_balance,
  context_strategy,
  explicit_sharding,
  muon_decoder,
  optimizer_over_data,
  quantization,
  multi_token_prediction,
  // What MaxText's start-up, the torus and the price list say.
  weights_not_sharded,
  mesh_does_not_fit_torus,
  host_traffic_not_priced,
  batch_tokens,  ///< more in a step than the search may use
  step_seconds,  ///< a longer step than was asked for
};
inline constexpr ConstraintId last_constraint = ConstraintId::step_seconds;
std::span<const ConstraintId> all_constraints();
std::string_view name_of(ConstraintId constraint);  ///< "hbm", "batch-divisibility", …

/// A dim that its axes don't divide, whatever the dim is.
bool is_divisibility(ConstraintId constraint);

/// What contradicts itself whatever the machine: a dim that doesn't divide, a batch that is no whole number of sequences.
bool is_contradiction(ConstraintId constraint);

struct Infeasible {
  ConstraintId constraint = ConstraintId::hbm;
  std::string message;
  std::int64_t needed = 0;
  std::int64_t available = 0;
};

}  // namespace shardplan
