#pragma once
// The plain fields of a model file: key and member. One that is left out keeps Model's default.
#include <shardplan/model.hpp>

namespace shardplan {

template <class Member>
struct ModelField {
  const char* key;
  Member Model::*member;
};

/// MaxText's word for the window of local layers; Model::attention_pattern holds it.
constexpr std::string_view window_key(const DecoderBlock& block) {
  return block.window_shape == WindowShape::chunked ? "chunk_attn_window_size" : "sliding_window_size";
}

/// No model goes without these.
inline constexpr ModelField<std::int64_t> required_model_dims[] = {{"layers", &Model::layers},   {"emb", &Model::emb},
                                                 {"q_heads", &Model::q_heads}, {"kv_heads", &Model::kv_heads},
                                                 {"mlp", &Model::mlp},         {"vocab", &Model::vocab}};

inline constexpr ModelField<std::int64_t> optional_model_dims[] = {{"head_dim", &Model::head_dim},
                                                 {"global_head_dim", &Model::global_head_dim},
                                                 {"global_kv_heads", &Model::global_kv_heads},
                                                 {"kv_shared_layers", &Model::kv_shared_layers},
                                                 {"per_layer_dim", &Model::per_layer_dim},
                                                 {"per_layer_vocab", &Model::per_layer_vocab},
                                                 {"attention_output_dim", &Model::attention_output_dim},
                                                 {"moe_mlp", &Model::moe_mlp},
                                                 {"num_experts", &Model::num_experts},
                                                 {"top_k", &Model::top_k},
                                                 {"shared_experts", &Model::shared_experts},
                                                 {"first_dense_layers", &Model::first_dense_layers},
                                                 {"q_lora_rank", &Model::q_lora_rank},
                                                 {"kv_lora_rank", &Model::kv_lora_rank},
                                                 {"qk_nope_head_dim", &Model::qk_nope_head_dim},
                                                 {"qk_rope_head_dim", &Model::qk_rope_head_dim},
                                                 {"v_head_dim", &Model::v_head_dim},
                                                 {"trainable_position_size", &Model::trainable_position_size},
                                                 {"gdn_conv_kernel_dim", &Model::gdn_conv_kernel_dim},
                                                 {"gdn_key_head_dim", &Model::gdn_key_head_dim},
                                                 {"gdn_value_head_dim", &Model::gdn_value_head_dim},
                                                 {"gdn_num_key_heads", &Model::gdn_num_key_heads},
                                                 {"gdn_num_value_heads", &Model::gdn_num_value_heads},
                                                 {"gdn_chunk_size", &Model::gdn_chunk_size},
                                                 {"indexer_n_heads", &Model::indexer_n_heads},
                                                 {"indexer_head_dim", &Model::indexer_head_dim},
                                                 {"indexer_topk", &Model::indexer_topk},
                                                 {"mhc_expansion_rate", &Model::mhc_expansion_rate},
                                                 {"hash_layers", &Model::hash_layers},
                                                 {"o_groups", &Model::o_groups},
                                                 {"o_lora_rank", &Model::o_lora_rank},
                                                 {"engram_num_heads", &Model::engram_num_heads},
                                                 {"engram_head_dim", &Model::engram_head_dim},
                                                 {"engram_kernel_size", &Model::engram_kernel_size},
                                                 {"max_target_length", &Model::max_target_length}};

inline constexpr ModelField<std::vector<std::int64_t>> model_lists[] = {{"compress_ratios", &Model::compress_ratios},
                                 {"engram_layers", &Model::engram_layers},
                                 {"engram_vocab_bases", &Model::engram_vocab_bases}};

inline constexpr ModelField<int> model_counts[] = {{"sublayers_per_layer", &Model::sublayers_per_layer},
                                 {"interleave_moe_step", &Model::interleave_moe_step},
                                 {"cycle_interval", &Model::cycle_interval}};

inline constexpr ModelField<bool> model_flags[] = {{"tied_embedding", &Model::tied_embedding},
                                 {"caps_scores", &Model::caps_scores},
                                 {"scales_logits", &Model::scales_logits},
                                 {"caps_logits", &Model::caps_logits},
                                 {"use_qk_norm", &Model::use_qk_norm},
                                 {"qk_norm_over_all_heads", &Model::qk_norm_over_all_heads},
                                 {"use_pre_norm", &Model::use_pre_norm},
                                 {"use_post_attn_norm", &Model::use_post_attn_norm},
                                 {"use_post_ffw_norm", &Model::use_post_ffw_norm},
                                 {"layer_norm", &Model::layer_norm},
                                 {"attention_bias", &Model::attention_bias},
                                 {"mlp_bias", &Model::mlp_bias},
                                 {"attention_sink", &Model::attention_sink},
                                 {"fused_qkv", &Model::fused_qkv},
                                 {"fused_mlp", &Model::fused_mlp},
                                 {"interleaved_rotation", &Model::interleaved_rotation},
                                 {"yarn_rotation", &Model::yarn_rotation},
                                 {"routed_bias", &Model::routed_bias},
                                 {"share_kv_projections", &Model::share_kv_projections},
                                 {"use_double_wide_mlp", &Model::use_double_wide_mlp},
                                 {"use_indexer", &Model::use_indexer},
                                 {"use_batch_split_schedule", &Model::use_batch_split_schedule},
                                 {"scan_layers", &Model::scan_layers}};

}  // namespace shardplan
