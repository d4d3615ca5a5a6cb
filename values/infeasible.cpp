#include <array>
#include <shardplan/error.hpp>
#include <shardplan/infeasible.hpp>

namespace shardplan {

std::span<const ConstraintId> all_constraints() {
  static constexpr auto all = [] {
    std::array<ConstraintId, static_cast<std::size_t>(last_constraint) + 1> each{};
    for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<ConstraintId>(i);
    return each;
  }();
  return all;
}

std::string_view name_of(ConstraintId constraint) {
  switch (constraint) {
    case ConstraintId::hbm:
      return "hbm";
    case ConstraintId::batch:
      return "batch";
    case ConstraintId::batch_divisibility:
      return "batch-divisibility";
    case ConstraintId::sequence_divisibility:
      return "sequence-divisibility";
    case ConstraintId::expert_divisibility:
      return "expert-divisibility";
    case ConstraintId::indivisible_dim:
      return "indivisible-dim";
    case ConstraintId::kv_heads:
      return "kv-heads";
    case ConstraintId::vocab_tiling:
      return "vocab-tiling";
    case ConstraintId::pipeline_layers:
      return "pipeline-layers";
    case ConstraintId::pipeline_layers_differ:
      return "pipeline-layers-differ";
    case ConstraintId::pipeline_microbatches:
      return "pipeline-microbatches";
    case ConstraintId::pipeline_batch:
      return "pipeline-batch";
    case ConstraintId::pipeline_prefetch:
      return "pipeline-prefetch";
    case ConstraintId::pipeline_remat:
      return "pipeline-remat";
    case ConstraintId::moe_path:
      return "moe-path";
    case ConstraintId::ring_needs_expert_parallelism:
      return "ring-needs-expert-parallelism";
    case ConstraintId::ring_needs_megablox:
      return "ring-needs-megablox";
    case ConstraintId::megablox_needs_tpu:
      return "megablox-needs-tpu";
    case ConstraintId::ragged_buffer:
      return "ragged-buffer";
    case ConstraintId::random_routing:
      return "random-routing-needs-expert-parallelism";
    case ConstraintId::sparse_tensor_sequence:
      return "sparse-tensor-sequence";
    case ConstraintId::expert_axis_stolen:
      return "expert-axis-stolen";
    case ConstraintId::given_argument:
      return "given-argument";
    case ConstraintId::attention_kernel:
      return "attention-kernel";
    case ConstraintId::packing:
      return "packing";
    case ConstraintId::context_load_balance:
      return "context-load-balance";
    case ConstraintId::context_strategy:
      return "context-strategy";
    case ConstraintId::explicit_sharding:
      return "explicit-sharding";
    case ConstraintId::batch_split:
      return "batch-split";
    case ConstraintId::dispatch_names_axis_twice:
      return "dispatch-names-axis-twice";
    case ConstraintId::muon_decoder:
      return "muon-decoder";
    case ConstraintId::optimizer_over_data:
      return "optimizer-over-data";
    case ConstraintId::multi_token_prediction:
      return "multi-token-prediction";
    case ConstraintId::quantization:
      return "quantization";
    case ConstraintId::weights_not_sharded:
      return "weights-not-sharded";
    case ConstraintId::mesh_does_not_fit_torus:
      return "mesh-does-not-fit-torus";
    case ConstraintId::host_traffic_not_priced:
      return "host-traffic-not-priced";
    case ConstraintId::batch_tokens:
      return "batch-tokens";
    case ConstraintId::step_seconds:
      return "step-seconds";
  }
  throw InternalError("unknown ConstraintId");
}

bool is_divisibility(ConstraintId constraint) {
  return constraint == ConstraintId::batch_divisibility || constraint == ConstraintId::sequence_divisibility ||
         constraint == ConstraintId::expert_divisibility || constraint == ConstraintId::indivisible_dim;
}

bool is_contradiction(ConstraintId constraint) {
  return constraint == ConstraintId::batch || is_divisibility(constraint);
}

}  // namespace shardplan
