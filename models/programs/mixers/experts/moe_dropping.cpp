// Mixture of experts with capacity: einsums against masks [batch, sequence, experts, capacity] (SHARDING.md 1.6, 2.5).
#include <algorithm>
#include <cmath>
#include <models/programs/mixers/experts/expert_weights.hpp>
#include <models/programs/mixers/experts/mixture_of_experts.hpp>

namespace shardplan {
namespace {

/// C = int(max(ceil(S·k/X)·cf, cf)), for each sequence.
std::int64_t capacity(const BlockBuilder& b) {
  const double per_expert =
      std::ceil(static_cast<double>(b.sizes.sequence * b.model.top_k) / static_cast<double>(b.model.num_experts));
  const double factor = b.config.capacity_factor;
  return static_cast<std::int64_t>(std::max(per_expert * factor, factor));
}

/// Expert weights are constrained again where experts are really split; that constraint is what fixes their layout.
TensorId expert_weight(BlockBuilder& b, const std::string& name, ExpertMatrix matrix, TensorDim embed,
                       LogicalAxes constraint) {
  const TensorId w = add_expert_weight(b, name, matrix, embed);
  if (b.sizes.expert_group <= 1) return w;
  return b.constrain("MoeBlock_0/" + name + " constrained", w, {std::move(constraint)});
}

}  // namespace

TensorId add_experts_dropping(BlockBuilder& b, const MixtureInput& in) {
  const TensorId x = in.tokens;
  const TensorDim batch = b.dims(x)[0], sequence = b.dims(x)[1], embed = b.dims(x)[2];
  const TensorDim experts{Dim::experts, b.model.num_experts}, slots{Dim::capacity, capacity(b)},
      mlp{Dim::mlp, b.model.moe_mlp};
  const Peel peel = b.config.moe_dispatch_no_expert_sharding ? Peel::experts_from_batch : Peel::none;
  const LogicalAxes dispatch_axes = {"activation_exp", "activation_batch_moe", "", "activation_embed_moe"};
  const Constraint hidden{{"activation_exp", "activation_batch_moe", "", "activation_mlp"}, peel};
  const Constraint mask_axes{{"activation_batch_moe", "activation_norm_length_moe", "", ""}};
  const Dims mask_dims{batch, sequence, experts, slots};

  const TensorId logits = add_router(b, in, {{"activation_batch_moe", "activation_length_moe", ""}});
  const TensorId weights = b.apply(OpKind::routing, "MoeBlock_0/routing", {logits},
                                   b.activation("routing weights", {batch, sequence, {Dim::top_k, b.model.top_k}},
                                                {{"activation_batch_moe", "activation_length_moe", ""}}));
  const TensorId dispatch_mask = b.constant("dispatch mask", mask_dims, b.config.dtype, mask_axes);
  b.block.tensors[dispatch_mask].role = TensorRole::dispatch_mask;
  b.apply(OpKind::add, "MoeBlock_0/dispatch_mask", {weights}, dispatch_mask);
  const TensorId combine_mask =
      b.apply(OpKind::add, "MoeBlock_0/combine_mask", {weights}, b.activation("combine mask", mask_dims, mask_axes));

  const TensorId dispatched =
      b.apply(OpKind::einsum, "MoeBlock_0/dispatch", {x, dispatch_mask},
              b.activation("dispatched tokens", {experts, batch, slots, embed}, {dispatch_axes, peel}));
  b.block.tensors[dispatched].role = TensorRole::dispatched_tokens;
  TensorIds projections;
  for (const std::string name : {"wi_0", "wi_1"}) {
    const TensorId w = expert_weight(b, name, ExpertMatrix::input, embed, {"exp", "", "mlp"});
    projections.push_back(b.apply(OpKind::einsum, "MoeBlock_0/" + name, {dispatched, w},
                                  b.activation("expert " + name + " output", {experts, batch, slots, mlp}, hidden,
                                               {"mlp" + name, "moe_mlp" + name})));
    b.block.operations.back().role = OperationRole::expert_projection;
    if (b.model.mlp_bias)
      projections.push_back(b.bias("MoeBlock_0/" + name + "/bias", {experts, mlp}, {"exp", "activation_mlp"}));
  }
  const TensorId activated = b.apply(OpKind::elementwise, "MoeBlock_0/activation", projections,
                                     b.activation("expert hidden", {experts, batch, slots, mlp}, hidden));
  const TensorId wo = expert_weight(b, "wo", ExpertMatrix::output, embed, {"exp", "mlp", ""});
  TensorId output =
      b.apply(OpKind::einsum, "MoeBlock_0/wo", {activated, wo},
              b.activation("expert output", {experts, batch, slots, embed}, {dispatch_axes}, {"mlpwo", "moe_mlpwo"}));
  b.block.operations.back().role = OperationRole::expert_output;
  if (b.model.mlp_bias)
    output = b.add_bias_over({experts, embed}, output, "MoeBlock_0/wo/bias", {"exp", "activation_embed"});
  return b.apply(OpKind::einsum, "MoeBlock_0/combine", {output, combine_mask},
                 b.activation("moe output", {batch, sequence, embed}, b.hidden()));
}

}  // namespace shardplan
