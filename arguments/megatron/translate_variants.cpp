// What only some decoder blocks have: linear and sparse attention, gates, streams, norms in other places. A part that no
// flag says is named, so that what trains is never another model without a word.
#include <arguments/megatron/translation.hpp>

namespace shardplan {
namespace {

/// Megatron-LM's linear layers are all of a cycle but the last, as MaxText's.
void translate_delta_nets(const Model& m, Translation& to) {
  to.flag("--experimental-attention-variant", "gated_delta_net");
  to.flag("--linear-attention-freq", m.cycle_interval);
  to.flag("--linear-conv-kernel-dim", m.gdn_conv_kernel_dim);
  to.flag("--linear-key-head-dim", m.gdn_key_head_dim);
  to.flag("--linear-value-head-dim", m.gdn_value_head_dim);
  to.flag("--linear-num-key-heads", m.gdn_num_key_heads);
  to.flag("--linear-num-value-heads", m.gdn_num_value_heads);
}

void translate_indexer(const Model& m, Translation& to) {
  to.flag("--experimental-attention-variant", "dsa");
  to.flag("--dsa-indexer-n-heads", m.indexer_n_heads);
  to.flag("--dsa-indexer-head-dim", m.indexer_head_dim);
  to.flag("--dsa-indexer-topk", m.indexer_topk);
}

void translate_attention_variant(const Model& m, Translation& to) {
  const DecoderBlock& block = m.decoder_block;
  if (block.gated_delta_net) translate_delta_nets(m, to);
  if (block.gated_attention) to.flag("--attention-output-gate");
  if (m.attention_sink) to.flag("--softmax-type", "learnable");
  if (block.compressed_attention)
    to.missing("compressed attention: windows beside keys that stand for runs of tokens, and heads that leave in groups",
               "grouped-query attention is said");
  else if (m.use_indexer) translate_indexer(m, to);
  if (m.hash_layers > 0)
    to.missing(fmt::format("experts picked by a token's id in the first {} layers", m.hash_layers),
               "every layer's router is learned");
  if (block.l2_qk_norm) to.flag("--no-rope-freq", m.attention_pattern.locals_per_period + 1);
  if (m.qk_norm_over_all_heads)
    to.missing("norms over all heads of queries and keys", "--qk-layernorm is each head's; none is said");
}

/// gemma4's attention.
void translate_lent_keys(const Model& m, Translation& to) {
  if (m.global_head_dim > 0 || m.global_kv_heads > 0 || m.share_kv_projections)
    to.missing("heads of global layers that differ from the local ones'", "every layer has the local ones' heads");
  if (m.kv_shared_layers > 0)
    to.missing(fmt::format("keys and values of other layers in the last {}", m.kv_shared_layers),
               "every layer has its own");
  if (m.decoder_block.norms_values) to.missing("a norm of values", "none is said; it has no weights");
}

void translate_norms(const Model& m, Translation& to) {
  if (!m.use_pre_norm) to.missing("layers without norms before attention and feed-forward", "they are there");
  if (m.use_post_attn_norm || m.use_post_ffw_norm)
    to.missing("norms behind attention and feed-forward", "there are none but those before them");
  if (m.caps_logits) to.missing("capped logits (final_logits_soft_cap)", "they are not capped");
}

void translate_expert_variant(const Model& m, Translation& to) {
  const DecoderBlock& block = m.decoder_block;
  if (block.gated_shared_expert && m.shared_experts > 0) to.flag("--moe-shared-expert-gate");
  if (block.scales_expert_input) to.flag("--moe-apply-probs-on-input");
  if (block.dense_beside_experts)
    to.missing(fmt::format("a dense feed-forward of {} beside the experts, normed apart", m.mlp),
               "a shared expert would have the experts' norm");
  if (block.shape == LayerShape::attention_into_experts)
    to.missing(fmt::format("experts that work on attention's output of width {}", m.attention_output_dim),
               "theirs is the hidden size");
}

void translate_streams_and_tables(const Model& m, Translation& to) {
  if (m.mhc_expansion_rate > 1) {
    to.flag("--enable-mhc-connections");
    to.flag("--mhc-num-residual-streams", m.mhc_expansion_rate);
  }
  if (m.mtp_num_layers > 0) to.flag("--mtp-num-layers", m.mtp_num_layers);
  if (!m.engram_layers.empty())
    to.missing(fmt::format("n-gram memory in {} layers", m.engram_layers.size()), "those layers go without");
  if (m.per_layer_dim > 0)
    to.missing(fmt::format("an input of width {} to each layer from a table of its own", m.per_layer_dim),
               "layers go without");
  if (m.use_double_wide_mlp)
    to.missing("feed-forwards of twice the width in the last layers", "--ffn-hidden-size is every layer's");
  if (m.decoder_block.scales_output) to.missing("a learned factor of each layer's output", "layers go without");
}

}  // namespace

void translate_variants(const Model& m, Translation& to) {
  translate_attention_variant(m, to);
  translate_lent_keys(m, to);
  translate_norms(m, to);
  if (m.has_experts()) translate_expert_variant(m, to);
  translate_streams_and_tables(m, to);
}

}  // namespace shardplan
