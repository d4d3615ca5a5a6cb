// A mixture of experts: router, routed experts, shared ones.
#include <models/programs/mixers/feed_forward.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <models/programs/mixers/experts/mixture_of_experts.hpp>

namespace shardplan {
namespace {

/// Where the bias only picks experts (DeepSeek), weights come from the logits without it: no gradient reaches it.
TensorId add_routed_bias(BlockBuilder& b, TensorId logits) {
  const TensorId biased = b.add_bias(logits, "MoeBlock_0/gate/bias", {""});
  const TensorId bias = b.block.operations.back().inputs.back();
  b.block.tensors[bias].differentiable = !b.model.decoder_block.routed_bias_only_picks;
  if (b.model.decoder_block.untrained_routed_bias) b.block.tensors[bias].role = TensorRole::untrained;
  return biased;
}

/// Every device has the whole table (MaxText layers/moe.py: tid2eid, kept as float32).
void add_experts_of_tokens(BlockBuilder& b) {
  b.untrained_table("MoeBlock_0/tid2eid", {{Dim::vocab, b.model.vocab}, {Dim::top_k, b.model.top_k}}, DType::f32);
}

/// What the shared experts add, times the sigmoid of a logit of the token (MaxText models/qwen3.py).
TensorId add_gate(BlockBuilder& b, TensorId x, TensorId shared) {
  const Dims tokens = b.dims(x);
  const TensorDim one{Dim::gate, 1};
  const TensorId w = b.weight("shared_expert_gate", {tokens[2], one}, {"embed", ""});
  b.gives_quantization = false;  // models/qwen3.py
  const TensorId logit = b.apply(OpKind::einsum, "shared_expert_gate", {x, w},
                                 b.activation("shared expert gate", {tokens[0], tokens[1], one}));
  b.gives_quantization = true;
  return b.apply(OpKind::elementwise, "shared_expert_gate/scale", {shared, logit},
                 b.activation("gated shared experts", b.hidden_dims(), b.hidden()));
}

TensorId add_mixture(BlockBuilder& b, const MixtureInput& in) {
  const TensorId routed = add_routed_experts(b, in);
  const DecoderBlock& block = b.model.decoder_block;
  if (b.model.shared_experts == 0 || !(block.shared_experts || block.gated_shared_expert)) return routed;
  b.module = Module::shared_experts;
  TensorId shared = add_feed_forward(b, in.tokens, "shared_experts", b.model.shared_experts * b.model.moe_mlp);
  if (block.gated_shared_expert) shared = add_gate(b, in.tokens, shared);
  return b.apply(OpKind::add, "shared_experts/add", {routed, shared},
                 b.activation("mixture output", b.hidden_dims(), b.hidden()));
}

}  // namespace

TensorId add_router(BlockBuilder& b, const MixtureInput& in, const Constraint& constraint) {
  const TensorId x = in.router;
  const TensorDim experts{Dim::experts, b.model.num_experts};
  const TensorId gate = b.weight("MoeBlock_0/gate", {b.dims(x).back(), experts},
                                 {b.model.decoder_block.gate_axis, ""});
  const Dims tokens = b.dims(x);
  const TensorId logits = b.activation("router logits", {tokens[0], tokens[1], experts}, constraint);
  if (b.config.float32_gate_logits) b.block.tensors[gate].dtype = b.block.tensors[logits].dtype = DType::f32;
  b.apply(OpKind::einsum, "MoeBlock_0/gate", {x, gate}, logits);
  if (in.by_token) {
    add_experts_of_tokens(b);
    return logits;
  }
  return b.model.routed_bias ? add_routed_bias(b, logits) : logits;
}

TensorId add_routed_experts(BlockBuilder& b, const MixtureInput& in) {
  b.module = Module::mixture;
  b.block.mixture = true;
  b.block.experts_per_token = b.model.top_k;
  return b.config.moe_path == MoePath::dropping ? add_experts_dropping(b, in) : add_experts_sparse(b, in);
}

TensorId add_mixture_of_experts(BlockBuilder& b, TensorId x) { return add_mixture(b, {x, x}); }

TensorId add_hash_routed_experts(BlockBuilder& b, TensorId x) { return add_mixture(b, {x, x, true}); }

}  // namespace shardplan
