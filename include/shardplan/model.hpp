#pragma once
// A model as its configuration gives it. Dims are global counts; -1 or 0 where a kind of layer does not have the dim,
// as MaxText spells it. Source: MaxText's configs/models/*.yml (facts collected in models/configs/*.json).
#include <cstdint>
#include <optional>
#include <shardplan/decoder_block.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

enum class AttentionType { global, mla, compressed };
inline constexpr AttentionType attention_types[] = {AttentionType::global, AttentionType::mla,
                                                    AttentionType::compressed};
std::string_view name_of(AttentionType type);

/// MaxText's rope_type.
enum class RopeType : std::uint8_t { standard, llama3_1, yarn };
std::string_view name_of(RopeType type);  ///< "default", "llama3.1"

/// How a layer stack alternates between full attention and a window, whose shape the decoder block decides.
struct AttentionPattern {
  std::int64_t window = 0;    ///< of a local layer, in tokens; 0: every layer is global
  int locals_per_period = 0;  ///< local layers before each global one (gemma3: 5, gpt-oss and gemma2: 1)
  bool operator==(const AttentionPattern&) const = default;
};

struct ModelRules {
  bool override_rules = false;         ///< replaces the whole list (override_logical_axis_rules) instead of merging
  std::vector<std::string> mesh_axes;  ///< empty: base.yml's
  std::vector<Rule> rules;
  std::vector<std::string> data_sharding;  ///< empty: base.yml's
  /// Of arguments: what the model's own file says of the same keys is left out (override_model_config).
  bool in_place_of_models = false;
  bool operator==(const ModelRules&) const = default;
};

/// A dim or switch that differs from the model's own file: {"base_num_decoder_layers", 4}, {"fused_qkv", 0}.
using ModelOverride = std::pair<std::string, std::int64_t>;

/// Something that should be known of a model: {"quantization_config", "the checkpoint's; weight_dtype is trained"}.
struct ModelNote {
  std::string field;  ///< as the model's file calls it
  std::string reason;
  bool operator==(const ModelNote&) const = default;
};

struct Model {
  std::string name;
  bool in_maxtext = false;  ///< MaxText has a model of this name; otherwise `name` is its file's or folder's
  DecoderBlock decoder_block;   ///< MaxText's decoder_block and what it decides
  std::int64_t layers = 0;      ///< decoder layers as counted by base_num_decoder_layers (gemma2: pairs)
  int sublayers_per_layer = 1;  ///< gemma2: 2 (a local and a global layer make one)
  std::int64_t emb = 0, q_heads = 0, kv_heads = 0, head_dim = 128, mlp = 0, moe_mlp = -1, vocab = 32000;
  std::vector<std::string> mlp_activations;  ///< {"silu","linear"}: gated, two input projections
  std::int64_t num_experts = 1, top_k = 1, shared_experts = 0, first_dense_layers = 0;
  int interleave_moe_step = 1, cycle_interval = 1;
  bool tied_embedding = false;
  bool caps_scores = false;  ///< attn_logits_soft_cap: softmax reads a hyperbolic tangent of attention's scores
  bool scales_logits = false;  ///< normalize_embedding_logits: those of a tied head are divided by the root of emb
  bool caps_logits = false;  ///< final_logits_soft_cap: the loss reads a hyperbolic tangent of the logits
  AttentionType attention_type = AttentionType::global;
  std::int64_t q_lora_rank = 0, kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  bool use_qk_norm = false, use_post_attn_norm = false, use_post_ffw_norm = false;
  bool interleaved_rotation = false;    ///< rotary positions turn neighbouring features (rope_type llama3.1)
  bool yarn_rotation = false;           ///< latent attention looks cosines and sines up by position (rope_type yarn)
  bool use_pre_norm = true;             ///< norms before attention and MLP (olmo3 has only the ones after)
  bool qk_norm_over_all_heads = false;  ///< the qk norm spans heads × head_dim, not one head (olmo3)
  bool layer_norm = false;              ///< LayerNorm with mean and bias in place of RMSNorm (gpt3)
  /// attention_bias: on query, key, value and, except in qwen2, the output projection. mlp_bias: on every projection.
  bool attention_bias = false, mlp_bias = false, attention_sink = false, fused_qkv = false, routed_bias = false;
  bool fused_mlp = false;  ///< dense feed-forwards and shared experts make both inputs of their activation with one weight
  /// Of global layers: values are projected with keys, a head dim and a number of key heads (0: the other layers').
  bool share_kv_projections = false;
  std::int64_t global_head_dim = 0, global_kv_heads = 0;
  /// The last of the layers attend to keys and values of the last layer before them of their kind (gemma4_small).
  std::int64_t kv_shared_layers = 0;
  bool use_double_wide_mlp = false;  ///< whose feed-forward is twice as wide
  /// A table of `per_layer_vocab` rows gives each layer an input of this width for each token; 0: none.
  std::int64_t per_layer_dim = 0, per_layer_vocab = 0;
  std::int64_t attention_output_dim = -1;  ///< width between attention and experts (qwen3_custom_moe); -1: emb
  std::int64_t trainable_position_size = 0;  ///< rows of a learned position table (gpt3); 0: none
  // Gated delta net (qwen3_next, qwen3_5); where a file says nothing, base.yml's.
  std::int64_t gdn_conv_kernel_dim = 4, gdn_key_head_dim = 128, gdn_value_head_dim = 128, gdn_num_key_heads = 16,
               gdn_num_value_heads = 32;
  std::int64_t gdn_chunk_size = 64;  ///< tokens that the delta rule works on at a time
  /// Latent attention with an indexer (deepseek3.2): each query attends to the indexer_topk keys that score highest.
  bool use_indexer = false;
  std::int64_t indexer_n_heads = 64, indexer_head_dim = 128, indexer_topk = 2048;
  std::int64_t mtp_num_layers = 0;  ///< layers of multi-token prediction behind the decoder
  /// Streams of the hidden state, mixed before and behind each branch (hyper-connections).
  std::int64_t mhc_expansion_rate = 1;
  /// Compressed attention (deepseek4): tokens that one key of each layer stands for beside the window's own; 0: none.
  std::vector<std::int64_t> compress_ratios;
  std::int64_t hash_layers = 0;  ///< first layers, whose experts a token's id picks
  std::int64_t o_groups = 0, o_lora_rank = 0;  ///< groups of heads, each projected to a rank before the output projection
  // N-gram memory (deepseek): layers that have it; for each order of n-grams, from two on, rows of a head's table.
  std::vector<std::int64_t> engram_layers, engram_vocab_bases;
  std::int64_t engram_num_heads = 8, engram_head_dim = 1280, engram_kernel_size = 4;
  /// Layers with experts work on two half batches in turns, with weights moved by hand (deepseek).
  bool use_batch_split_schedule = false;
  AttentionPattern attention_pattern;
  ModelRules rules;
  std::int64_t max_target_length = 2048;
  double capacity_factor = -1.0;  ///< -1: drop-less
  bool scan_layers = true;
  std::optional<std::string> opt_type;  ///< where the model's yml sets it (gpt3: adam_pax)
  std::optional<bool> use_iota_embed;   ///< likewise
  std::optional<std::string> attention;  ///< likewise (gpt3-52k: dot_product)
  std::string not_modelled;  ///< empty, or the layer that shardplan does not model yet ("gated delta net attention")
  double memory_error_high = 0;     ///< where compiled programs of this kind of model need far more than predicted: what
                                    ///< is no argument took up to 1 + this times as much
  std::string memory_error_source;  ///< likewise: which programs
  /// What a run of MaxText's is told: {"use_multimodal", "false"}.
  std::vector<std::pair<std::string, std::string>> run_arguments;
  std::string unknown_to_maxtext;         ///< why no run has this name though MaxText has a file of it; else empty
  std::string note;          ///< empty, or what of the model is left out ("text decoder only: …")
  std::vector<std::pair<std::string, std::string>> inner_values;  ///< MaxText keys of a file that cost nothing: rope, …
  std::vector<ModelNote> left_out;                                ///< what a Hugging Face file says and nothing here reads

  bool operator==(const Model&) const = default;
  bool has_experts() const { return num_experts > 1; }
  bool masks_keys() const { return use_indexer || !compress_ratios.empty(); }  ///< by what the layers compute
  /// Layers after which attention and feed-forwards repeat: the least common multiple of their periods.
  int layer_period() const;
  std::int64_t common_kv_heads() const;  ///< greatest common divisor of the layers' key heads: what can split them all
  std::int64_t moe_layers() const;    ///< layers whose feed-forward is a mixture of experts
  std::int64_t dense_layers() const;  ///< the others
};

}  // namespace shardplan
