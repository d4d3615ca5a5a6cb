#pragma once
// MaxText's decoder blocks (DecoderBlockType in common/common_types.py) and what each decides. A model carries its row
// (models/decoder_block.cpp), resolved when it is loaded; nothing else asks which block it is.
#include <cstdint>
#include <shardplan/attention/attention_window.hpp>
#include <string_view>

namespace shardplan {

enum class DecoderBlockKind : std::uint8_t {
  llama2,
  mistral,
  mixtral,
  deepseek,
  qwen2,
  qwen3,
  qwen3_moe,
  gpt_oss,
  gpt3,
  gemma,
  gemma2,
  gemma3,
  olmo3,
  deepseek4,
  envy,
  gemma4,
  gemma4_small,
  llama4,
  qwen3_custom_moe,
  qwen3_next,
  qwen3_5
};

enum class FeedForward : std::uint8_t { dense, experts };

/// What a layer is a list of (models/programs/layer_kinds.cpp).
enum class LayerShape : std::uint8_t {
  two_branches,            ///< attention, then a feed-forward
  attention_into_experts,  ///< one: attention hands its narrower output to the experts (qwen3_custom_moe)
};

/// Where a decoder takes capacity_factor from (MaxText configs/types.py).
enum class CapacityChoice : std::uint8_t { free, with_sparse_matmul, never };

/// What MaxText makes a layer of multi-token prediction of (models/models.py): the last class of the decoder's, which it
/// calls with config, mesh, mode and random numbers alone (layers/nnx_decoders.py, get_decoder_layers).
enum class PredictingLayer : std::uint8_t {
  not_modelled,
  stops,          ///< its class wants more, or is called otherwise
  excluded,       ///< configs/types.py says no
  last,           ///< a layer of the decoder's last kind
  local,          ///< one with a window, whatever the decoder's last is
  cycle,          ///< the layers of one cycle
  scanned_cycle,  ///< likewise, of scanned layers; MaxText makes none, or others, of those that aren't
};

/// Parts of a layer that its class in MaxText has, by its own code or where the configuration says so; keys of others are
/// read by no code of it (models/*.py; layers/moe.py reads mlp_bias of routed experts, whatever the class).
struct LayerParts {
  bool qk_norm = false, post_attn_norm = false, post_ffw_norm = false;
  bool attention_bias = false, mlp_bias = false;
  bool no_pre_norm = false;  ///< or lacks
  bool operator==(const LayerParts&) const = default;
};

struct DecoderBlock {
  DecoderBlockKind kind = DecoderBlockKind::llama2;
  std::string_view name = "llama2";
  PredictingLayer predicting = PredictingLayer::not_modelled;  ///< what mtp_num_layers adds behind the decoder
  LayerParts parts = {};
  FeedForward feed_forward = FeedForward::dense;
  bool either_feed_forward = false;  ///< num_experts says which: `feed_forward`, or dense
  LayerShape shape = LayerShape::two_branches;
  int locals_per_period = 0;  ///< local layers before each global one (models/*.py: …_ATTENTION_PATTERN)
  WindowShape window_shape = WindowShape::sliding;  ///< of local layers
  bool interleaves_experts = false;  ///< interleave_moe_step: other layers are dense
  bool free_period = false;       ///< locals_per_period is the model's
  bool unscanned = false;         ///< layers differ: scan_layers=false alone (layers/nnx_decoders.py)
  bool lends_keys = false;        ///< kv_shared_layers and inputs of each layer are known
  bool global_heads = false;      ///< global layers may have another head dim, fewer key heads and one key/value projection
  bool loops_in_cycle = false;    ///< the kinds of layer are loops inside the scan's iteration (models/gemma4.py)
  bool scales_output = false;     ///< a learned number multiplies each layer's output
  int sublayers_per_layer = 1;
  bool dense_layers_before_pipeline = false;  ///< first_dense_layers exist and run before it, stages as data parallelism
  bool attention_output_bias = true;          ///< attention_bias reaches the output projection too
  bool fuses_in_thirds = false;               ///< fused_qkv: one projection [embed, 3, heads, head_dim]; elsewhere
                                              ///< [embed, heads + 2·kv_heads, head_dim]
  bool l2_qk_norm = false;                    ///< the qk norm has no scale, and global layers (unrotated) don't have it
  bool caps_scores = false;                   ///< attn_logits_soft_cap reaches its attention (models/*.py)
  bool wide_global_scores = false;            ///< global layers: float32_qk_product and float32_logits
  bool norms_values = false;                  ///< without a scale
  bool dense_beside_experts = false;          ///< a dense feed-forward of width mlp, normed apart, in the shared one's place
  bool scales_expert_input = false;           ///< the router's weight multiplies what experts read, not what they return
  bool gated_delta_net = false;               ///< all layers of a cycle but the last have it in place of attention
  bool compressed_attention = false;          ///< windows, and keys that stand for runs of tokens; hash-routed layers first
  bool hyper_connections = false;             ///< mhc_expansion_rate is known
  bool n_gram_memory = false;                 ///< engram_layers are known
  bool gated_attention = false;               ///< queries come with a gate of the attention's output
  bool shared_experts = false;                ///< shared_experts is known (layers/moe.py, RoutedAndSharedMoE)
  bool gated_shared_expert = false;           ///< each token scales what the shared expert adds
  bool routed_bias_only_picks = false;        ///< routed_bias chooses experts and is in no weight: no gradient
  bool untrained_routed_bias = false;         ///< and no optimizer knows it: a variable of NNX alone
  bool made_by_base_defaults = false;         ///< base.yml's own sizes and switches are such a model
  std::string_view gate_axis = "embed";       ///< logical axis of the router's input dim
  bool batch_split = false;                   ///< use_batch_split_schedule is known
  bool explicit_sharding = false;             ///< shard_mode=explicit knows it
  bool explicit_mlp_by_norm_length = false;   ///< and names its MLP hidden state (batch, norm_length, mlp) there
  bool muon = false;                          ///< opt_type=muon knows it
  bool mlp_follows_moe_mlp = false;           ///< base_mlp_dim is taken from base_moe_mlp_dim
  bool free_moe_width = false;                ///< moe_mlp may differ from mlp though every layer has experts
  CapacityChoice capacity = CapacityChoice::free;

  bool operator==(const DecoderBlock&) const = default;
};

}  // namespace shardplan
