#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/megatron/translation.hpp>

namespace shardplan {
namespace {

void translate_attention(const Model& m, Translation& to) {
  to.flag("--num-attention-heads", m.q_heads);
  if (m.attention_type == AttentionType::mla) {
    to.flag("--multi-latent-attention");
    if (m.q_lora_rank > 0) to.flag("--q-lora-rank", m.q_lora_rank);
    to.flag("--kv-lora-rank", m.kv_lora_rank);
    to.flag("--qk-head-dim", m.qk_nope_head_dim);
    to.flag("--qk-pos-emb-head-dim", m.qk_rope_head_dim);
    to.flag("--v-head-dim", m.v_head_dim);
    to.flag("--qk-layernorm");  // of the low ranks
    return;
  }
  if (m.kv_heads != m.q_heads) {
    to.flag("--group-query-attention");
    to.flag("--num-query-groups", m.kv_heads);
  }
  to.flag("--kv-channels", m.head_dim);
  const bool norms_heads = m.use_qk_norm || m.decoder_block.gated_attention;
  if (norms_heads && !m.qk_norm_over_all_heads)
    to.flag(m.decoder_block.l2_qk_norm ? "--qk-l2-norm" : "--qk-layernorm");
  if (m.attention_pattern.window > 0)
    to.missing(fmt::format("windows of {} tokens in local layers", m.attention_pattern.window),
               "--window-size is every layer's; the pattern is not said");
}

/// "([0]*3+[1]*58)": layers with experts behind dense ones; "([0]*1+[1]*1)*24": the last of two (a number has the first).
void translate_expert_layers(const Model& m, Translation& to) {
  to.flag("--num-experts", m.num_experts);
  to.flag("--moe-router-topk", m.top_k);
  to.flag("--moe-ffn-hidden-size", m.moe_mlp);
  if (m.shared_experts > 0) to.flag("--moe-shared-expert-intermediate-size", m.shared_experts * m.moe_mlp);
  if (m.first_dense_layers > 0)
    to.flag("--moe-layer-freq", fmt::format("([0]*{}+[1]*{})", m.first_dense_layers, m.layers - m.first_dense_layers));
  if (const auto step = m.interleave_moe_step; m.first_dense_layers == 0 && step > 1)
    to.flag("--moe-layer-freq", fmt::format("([0]*{}+[1]*1)*{}", step - 1, m.layers / step));
  if (m.routed_bias)
    to.missing(fmt::format("the router's bias and scores of {}", m.name),
               "--moe-router-enable-expert-bias goes with --moe-router-score-function, groups and scale, which are not "
               "said");
}

void translate_feed_forward(const Model& m, Translation& to) {
  if (m.mlp > 0) to.flag("--ffn-hidden-size", m.mlp);
  if (m.mlp_activations == std::vector<std::string>{"silu", "linear"}) to.flag("--swiglu");
  else to.missing(fmt::format("mlp_activations of {}", m.name), "only --swiglu says the same as silu, linear");
}

/// --disable-bias-linear speaks of the attention's output and of the feed-forwards at once, and of the joint projection
/// where --add-qkv-bias doesn't.
void translate_biases(const Model& m, Translation& to) {
  const bool of_output = m.attention_bias && m.decoder_block.attention_output_bias;
  if (!m.mlp_bias && !of_output) to.flag("--disable-bias-linear");
  if (m.mlp_bias != of_output)
    to.missing(fmt::format("biases of {} alone", of_output ? "attention" : "feed-forwards"),
               "Megatron-LM's are on the attention's output and the feed-forwards, or on neither");
  if (m.attention_bias && m.attention_type != AttentionType::mla) to.flag("--add-qkv-bias");
}

/// Of the values that a model of one's own carries; empty: it says none. MaxText's own files keep theirs.
std::string inner_value(const Model& m, std::string_view key) {
  const auto found = std::find_if(m.inner_values.begin(), m.inner_values.end(),
                                  [&](const auto& value) { return value.first == key; });
  return found == m.inner_values.end() ? "" : found->second;
}

void translate_positions(const Model& m, Translation& to) {
  if (m.trainable_position_size > 0) return;
  to.flag("--position-embedding-type", "rope");
  if (const std::string base = inner_value(m, "rope_max_timescale"); !base.empty())
    to.flag("--rotary-base", base);
  else
    to.unknown(fmt::format("--rotary-base, which MaxText's own file of {} has", m.name),
                  "10000 where nobody says; it costs nothing");
}

/// A value that needs a flag, and the flag.
struct ValueFlag {
  std::string_view key, flag;
};
constexpr ValueFlag flags_of_values[] = {{"normalization_layer_epsilon", "--norm-epsilon"},
                                         {"partial_rotary_factor", "--rotary-percent"}};

/// Said where they are translated, or as a flag of their own.
bool is_said(std::string_view key) {
  return key == "rope_max_timescale" || std::any_of(std::begin(flags_of_values), std::end(flags_of_values),
                                                    [&](const ValueFlag& row) { return row.key == key; });
}

/// Says that there is nothing of the kind.
bool is_plain(std::string_view value) {
  constexpr std::string_view plain[] = {"default", "0", "1", "false"};
  return std::find(std::begin(plain), std::end(plain), value) != std::end(plain);
}

void translate_inner_values(const Model& m, Translation& to) {
  for (const auto& [key, flag] : flags_of_values)
    if (const std::string value = inner_value(m, key); !value.empty()) to.flag(std::string(flag), value);
  std::vector<std::string> unsaid;
  for (const auto& [key, value] : m.inner_values)
    if (!is_said(key) && !is_plain(value)) unsaid.push_back(fmt::format("{}={}", key, value));
  for (const ModelNote& note : m.left_out) unsaid.push_back(note.field);
  if (unsaid.empty()) return;
  to.missing(fmt::format("of the model's file {}", fmt::join(unsaid, ", ")),
             inner_value(m, "rope_type") == "llama3.1"
                 ? "see its own configuration; Llama 3.1's rotary scaling is --use-rope-scaling, its factor "
                   "--rope-scaling-factor"
                 : "see its own configuration");
}

}  // namespace

void translate_model(const Configuration& c, Translation& to) {
  const Model& m = c.model;
  to.flag("--num-layers", m.layers * m.sublayers_per_layer);
  to.flag("--hidden-size", m.emb);
  to.flag("--vocab-size", m.vocab);
  to.flag("--max-position-embeddings", c.config.max_target_length);
  translate_attention(m, to);
  translate_feed_forward(m, to);
  translate_biases(m, to);
  translate_variants(m, to);
  if (m.has_experts()) translate_expert_layers(m, to);
  if (!m.layer_norm) to.flag("--normalization", "RMSNorm");
  if (!m.tied_embedding) to.flag("--untie-embeddings-and-output-weights");
  translate_positions(m, to);
  translate_inner_values(m, to);
}

}  // namespace shardplan
