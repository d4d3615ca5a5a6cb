// Mixture of experts without padding, inside one shard_map: tokens are sorted by expert and multiplied in groups
// (SHARDING.md 2.4). They reach their expert's device by ragged all-to-all or by the ring (all-gather, reduce-scatter).
#include <algorithm>
#include <cmath>
#include <models/programs/mixers/experts/expert_weights.hpp>
#include <models/programs/mixers/experts/mixture_of_experts.hpp>

namespace shardplan {
namespace {

/// Rows of a device's buffer over the rows it gets when routing is balanced: min(n, X/k) for the worst case,
/// ragged_buffer_factor where that is set. The ring gathers the tokens of all n devices, sorts every row of theirs and
/// masks those of other devices' experts: n times its own (MaxText layers/moe.py, roe_ag_and_route and permute).
double buffer_inflation(const BlockBuilder& b) {
  const double group = static_cast<double>(b.sizes.expert_group);
  if (b.config.ragged_buffer_factor > 0) return b.config.ragged_buffer_factor;
  if (b.config.moe_path == MoePath::ring) return group;
  return std::min(group, static_cast<double>(b.model.num_experts) / static_cast<double>(b.model.top_k));
}

}  // namespace

TensorId add_experts_sparse(BlockBuilder& b, const MixtureInput& in) {
  const TensorId x = in.tokens;
  const TensorDim batch = b.dims(x)[0], sequence = b.dims(x)[1], embed = b.dims(x)[2];
  const TensorDim experts{Dim::experts, b.model.num_experts}, mlp{Dim::mlp, b.model.moe_mlp},
      k{Dim::top_k, b.model.top_k};
  const Constraint tokens_in{{"activation_batch", "activation_norm_length", ""}};
  const bool ring = b.config.moe_path == MoePath::ring;

  const double inflation = buffer_inflation(b);
  const double rows_total = static_cast<double>(batch.size * sequence.size * b.model.top_k) * inflation;
  const TensorDim rows{Dim::rows, static_cast<std::int64_t>(std::ceil(rows_total / static_cast<double>(experts.size)))};
  b.block.row_occupancy = 1 / inflation;

  const TensorId logits = add_router(b, in, {{"activation_batch", "activation_norm_length", ""}});
  // The ring gathers the logits and routes inside the shard_map.
  const TensorId routing = ring ? logits
                                : b.apply(OpKind::elementwise, "MoeBlock_0/top_k", {logits},
                                          b.activation("routing weights", {batch, sequence, k}, tokens_in));
  const TensorId entered = b.constrain("MoeBlock_0/shard_map tokens", x, tokens_in);
  const bool scaled_first = b.model.decoder_block.scales_expert_input && !ring;
  const TensorId tokens = scaled_first ? b.apply(OpKind::elementwise, "MoeBlock_0/scaled_input", {entered, routing},
                                                 b.activation("scaled tokens", {batch, sequence, embed}, tokens_in))
                                       : entered;

  const TensorId dispatched = b.apply(ring ? OpKind::ring_dispatch : OpKind::ragged_dispatch, "MoeBlock_0/dispatch",
                                      {tokens, routing}, b.activation("routed tokens", {experts, rows, embed}));
  TensorIds projections;
  for (const std::string name : {"wi_0", "wi_1"}) {
    const TensorId w =
        as_shard_map_input(b, add_expert_weight(b, name, ExpertMatrix::input, embed), name, ExpertMatrix::input);
    // MaxText names wi_1 only moe_mlpwi_1 here, so `minimal` computes it again (SHARDING.md section 4).
    const std::vector<std::string> saved =
        name == "wi_0" ? std::vector<std::string>{"mlpwi_0", "moe_mlpwi_0"} : std::vector<std::string>{"moe_mlpwi_1"};
    projections.push_back(b.apply(OpKind::einsum, "MoeBlock_0/" + name, {dispatched, w},
                                  b.activation("expert " + name + " output", {experts, rows, mlp}, {}, saved)));
    b.block.operations.back().role = OperationRole::expert_projection;
    if (b.model.mlp_bias)
      projections.push_back(b.bias("MoeBlock_0/" + name + "/bias", {experts, mlp}, {"exp", "activation_mlp"}));
  }
  const TensorId activated = b.apply(OpKind::elementwise, "MoeBlock_0/activation", projections,
                                     b.activation("expert hidden", {experts, rows, mlp}));
  const TensorId wo =
      as_shard_map_input(b, add_expert_weight(b, "wo", ExpertMatrix::output, embed), "wo", ExpertMatrix::output);
  TensorId output = b.apply(OpKind::einsum, "MoeBlock_0/wo", {activated, wo},
                                  b.activation("expert output", {experts, rows, embed}, {}, {"mlpwo", "moe_mlpwo"}));
  b.block.operations.back().role = OperationRole::expert_output;

  if (b.model.mlp_bias)
    output = b.add_bias_over({experts, embed}, output, "MoeBlock_0/wo/bias", {"exp", "activation_embed"});
  const TensorId combined = b.activation("moe output", {batch, sequence, embed}, b.hidden());
  if (ring) return b.apply(OpKind::ring_return, "MoeBlock_0/return", {output, routing}, combined);
  const TensorId returned =
      b.apply(OpKind::ragged_return, "MoeBlock_0/return", {output, routing},
              b.activation("returned rows", {batch, sequence, k, embed},
                           {{"activation_batch", "activation_norm_length", "", "activation_embed"}}));
  if (scaled_first) return b.apply(OpKind::add, "MoeBlock_0/sum", {returned}, combined);
  return b.apply(OpKind::elementwise, "MoeBlock_0/weighted_sum", {returned, routing}, combined);
}

}  // namespace shardplan
