#pragma once
// MaxText's decoder blocks (DecoderBlockType in common/common_types.py) and what each decides. A model carries its row
// (models/decoder_block.cpp), resolved when it is loaded; nothing else asks which block it is.
#include <cstdint>
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

/// Where a decoder takes capacity_factor from (MaxText configs/types.py).
enum class CapacityChoice : std::uint8_t { free, with_sparse_matmul, never };

struct DecoderBlock {
  DecoderBlockKind kind = DecoderBlockKind::llama2;
  std::string_view name = "llama2";
  FeedForward feed_forward = FeedForward::dense;
  bool modelled = true;       ///< shardplan has a layer program for it
  int locals_per_period = 0;  ///< sliding-window layers before each global one (models/*.py: …_ATTENTION_PATTERN)
  int sublayers_per_layer = 1;
  bool dense_layers_before_pipeline = false;  ///< first_dense_layers exist and run before it, stages as data parallelism
  bool attention_output_bias = true;          ///< attention_bias reaches the output projection too
  bool fuses_heads = false;                   ///< fused_qkv: one projection [embed, 3, heads, head_dim]
  bool gated_delta_net = false;               ///< all layers of a cycle but the last have it in place of attention
  bool gated_attention = false;               ///< queries come with a gate of the attention's output
  bool gated_shared_expert = false;           ///< each token scales what the shared expert adds
  bool routed_bias_only_picks = false;        ///< routed_bias chooses experts and is in no weight: no gradient
  std::string_view gate_axis = "embed";       ///< logical axis of the router's input dim
  bool multi_token_prediction = false;        ///< mtp_num_layers adds layers behind the decoder
  bool explicit_sharding = false;             ///< shard_mode=explicit knows it
  bool explicit_mlp_by_norm_length = false;   ///< and names its MLP hidden state (batch, norm_length, mlp) there
  bool muon = false;                          ///< opt_type=muon knows it
  bool mlp_follows_moe_mlp = false;           ///< base_mlp_dim is taken from base_moe_mlp_dim
  bool free_moe_width = false;                ///< moe_mlp may differ from mlp though every layer has experts
  CapacityChoice capacity = CapacityChoice::free;

  bool operator==(const DecoderBlock&) const = default;
};

}  // namespace shardplan
