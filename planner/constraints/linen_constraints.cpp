// What MaxText refuses of Linen alone: where enable_nnx=false is asked for, and where it is printed since a quantization
// works in no other (TrainConfig::quantizes_in_linen).
#include <fmt/format.h>

#include <planner/constraints/constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <rules/resolve.hpp>

namespace shardplan {
namespace {

std::string_view way_out(const TrainConfig& config) {
  if (config.quantizes_experts_in_linen())
    return "the quantization takes Linen: set use_qwix_quantization=true or sparse_matmul=true";
  return config.quantizes_in_linen() ? "the quantization takes Linen: set quantization=int8"
                                     : "set enable_nnx=true pure_nnx=true pure_nnx_decoder=true";
}

// configs/types.py, the checks of routed_bias.
Violation bias_is_routed_by_nnx(const Configuration& c) {
  if (!c.model.decoder_block.untrained_routed_bias || !c.model.routed_bias) return std::nullopt;
  return Infeasible{ConstraintId::given_argument,
                    fmt::format("enable_nnx=false: {} routes with a bias, which deepseek4 has in NNX alone; {}",
                                c.model.name, way_out(c.config)),
                    1, 0};
}

// Linen makes its weights by a forward pass without documents, where the causal mask is one for all sequences; an indexer
// that every key passes returns it as it is (layers/attention_mla.py, Indexer.__call__), and the kernel's shard_map divides
// it by the batch's axes (layers/attention_op.py, tpu_flash_attention; compiled: deepseek3.2-671b in int8, 2,048 tokens
// refused, 4,096 and NNX not).
Violation mask_is_of_each_sequence(const Configuration& c) {
  if (!c.model.use_indexer || c.config.max_target_length > c.model.indexer_topk) return std::nullopt;
  if (c.config.attention == AttentionKernel::dot_product) return std::nullopt;
  const std::int64_t shards = c.mesh.product(axes_of_rule(c.rules, c.mesh, "activation_batch_attn"));
  if (shards == 1) return std::nullopt;
  return Infeasible{ConstraintId::attention_kernel,
                    fmt::format("max_target_length={} is no more than indexer_topk={}: in Linen the indexer's mask is "
                                "one for all sequences, which the batch's {} shards don't divide; {}, or a longer sequence",
                                c.config.max_target_length, c.model.indexer_topk, shards, way_out(c.config)),
                    shards, 1};
}

}  // namespace

std::optional<Infeasible> linen_violation(const Configuration& c) {
  if (c.config.enable_nnx && !c.config.quantizes_in_linen()) return std::nullopt;
  return first_violation_of({bias_is_routed_by_nnx, mask_is_of_each_sequence}, c);
}

}  // namespace shardplan
