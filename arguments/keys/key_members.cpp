#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/keys/key_members.hpp>
#include <iterator>
#include <shardplan/batch_split.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using C = TrainConfig;

struct SettingMember {
  std::string_view key;
  SettingField member;
};

constexpr SettingMember settings[] = {
    {"per_device_batch_size", &C::per_device_batch_size},
    {"max_target_length", &C::max_target_length},
    {"gradient_accumulation_steps", &C::gradient_accumulation_steps},
    {"dtype", &C::dtype},
    {"weight_dtype", &C::weight_dtype},
    {"grad_dtype", &C::grad_dtype},
    {"quantization", &C::quantization},
    {"use_qwix_quantization", &C::use_qwix_quantization},
    {"weight_quantization_calibration_method", &C::weight_quantization_calibration_method},
    {"act_quantization_calibration_method", &C::act_quantization_calibration_method},
    {"bwd_quantization_calibration_method", &C::bwd_quantization_calibration_method},
    {"quant_cfg_path", &C::quant_cfg_path},
    {"quantization_local_shard_count", &C::quantization_local_shard_count},
    {"scan_layers", &C::scan_layers},
    {"megablox", &C::megablox},
    {"use_tokamax_gmm", &C::use_tokamax_gmm},
    {"use_random_routing", &C::use_random_routing},
    {"capacity_factor", &C::capacity_factor},
    {"use_ragged_sort", &C::use_ragged_sort},
    {"ragged_buffer_factor", &C::ragged_buffer_factor},
    {"moe_dispatch_no_expert_sharding", &C::moe_dispatch_no_expert_sharding},
    {"shard_exp_on_fsdp", &C::shard_exp_on_fsdp},
    {"use_2d_fsdp_sharding", &C::use_2d_fsdp_sharding},
    {"moe_fsdp_use_two_stage_all_gather", &C::moe_fsdp_use_two_stage_all_gather},
    {"dense_fsdp_use_two_stage_all_gather", &C::dense_fsdp_use_two_stage_all_gather},
    {"float32_gate_logits", &C::float32_gate_logits},
    {"float32_weight_sum", &C::float32_weight_sum},
    {"attention", &C::attention},
    {"context_parallel_strategy", &C::context_parallel_strategy},
    {"context_parallel_load_balance", &C::context_parallel_load_balance},
    {"packing", &C::packing},
    {"max_segments_per_seq", &C::max_segments_per_seq},
    {"param_scan_axis", &C::param_scan_axis},
    {"wi_tile_fwd_batch_seq", &C::wi_tile_fwd_batch_seq},
    {"wi_tile_fwd_embed_dim", &C::wi_tile_fwd_embed_dim},
    {"wi_tile_fwd_mlp_dim", &C::wi_tile_fwd_mlp_dim},
    {"wi_tile_dlhs_batch_seq", &C::wi_tile_dlhs_batch_seq},
    {"wi_tile_dlhs_embed_dim", &C::wi_tile_dlhs_embed_dim},
    {"wi_tile_dlhs_mlp_dim", &C::wi_tile_dlhs_mlp_dim},
    {"wi_tile_drhs_batch_seq", &C::wi_tile_drhs_batch_seq},
    {"wi_tile_drhs_embed_dim", &C::wi_tile_drhs_embed_dim},
    {"wi_tile_drhs_mlp_dim", &C::wi_tile_drhs_mlp_dim},
    {"wo_tile_fwd_batch_seq", &C::wo_tile_fwd_batch_seq},
    {"wo_tile_fwd_embed_dim", &C::wo_tile_fwd_embed_dim},
    {"wo_tile_fwd_mlp_dim", &C::wo_tile_fwd_mlp_dim},
    {"wo_tile_dlhs_batch_seq", &C::wo_tile_dlhs_batch_seq},
    {"wo_tile_dlhs_embed_dim", &C::wo_tile_dlhs_embed_dim},
    {"wo_tile_dlhs_mlp_dim", &C::wo_tile_dlhs_mlp_dim},
    {"wo_tile_drhs_batch_seq", &C::wo_tile_drhs_batch_seq},
    {"wo_tile_drhs_embed_dim", &C::wo_tile_drhs_embed_dim},
    {"wo_tile_drhs_mlp_dim", &C::wo_tile_drhs_mlp_dim},
    {"sa_block_q", &C::sa_block_q},
    {"sa_block_kv", &C::sa_block_kv},
    {"sa_block_kv_compute", &C::sa_block_kv_compute},
    {"sa_block_q_dkv", &C::sa_block_q_dkv},
    {"sa_block_kv_dkv", &C::sa_block_kv_dkv},
    {"sa_block_kv_dkv_compute", &C::sa_block_kv_dkv_compute},
    {"sa_block_q_dq", &C::sa_block_q_dq},
    {"sa_block_kv_dq", &C::sa_block_kv_dq},
    {"sa_use_fused_bwd_kernel", &C::sa_use_fused_bwd_kernel},
    {"use_tokamax_splash", &C::use_tokamax_splash},
    {"use_qk_clip", &C::use_qk_clip},
    {"dq_reduction_steps", &C::dq_reduction_steps},
    {"num_pipeline_microbatches", &C::num_pipeline_microbatches},
    {"num_pipeline_repeats", &C::num_pipeline_repeats},
    {"num_layers_per_pipeline_stage", &C::num_layers_per_pipeline_stage},
    {"pipeline_parallel_layers", &C::pipeline_parallel_layers},
    {"pipeline_delay_activation_forwarding", &C::pipeline_delay_activation_forwarding},
    {"pipeline_fsdp_ag_once", &C::pipeline_fsdp_ag_once},
    {"pipeline_fsdp_ag_per_repeat", &C::pipeline_fsdp_ag_per_repeat},
    {"shard_optimizer_over_data", &C::shard_optimizer_over_data},
    {"enable_nnx", &C::enable_nnx},
    {"pure_nnx", &C::pure_nnx},
    {"pure_nnx_decoder", &C::pure_nnx_decoder},
    {"use_iota_embed", &C::use_iota_embed},
    {"num_vocab_tiling", &C::num_vocab_tiling},
    {"vocab_tiling_ag_once", &C::vocab_tiling_ag_once},
    {"optimizer_memory_host_offload", &C::optimizer_memory_host_offload},
    {"parameter_memory_host_offload", &C::parameter_memory_host_offload},
    {"allow_split_physical_axes", &C::allow_split_physical_axes},
    {"custom_mesh", &C::custom_mesh},
    {"logits_dot_in_fp32", &C::logits_dot_in_fp32},
    {"cast_logits_to_fp32", &C::cast_logits_to_fp32},
    {"sharding_tolerance", &C::sharding_tolerance},
};

struct ModelDimMember {
  std::string_view key;
  std::int64_t (*member)(const Model&);
};

using M = const Model&;

/// 0: the model has no window of that shape.
std::int64_t window_of(M model, WindowShape shape) {
  return model.decoder_block.window_shape == shape ? model.attention_pattern.window : 0;
}

constexpr ModelDimMember model_dims[] = {
    {"base_num_decoder_layers", [](M m) { return m.layers; }},
    {"base_emb_dim", [](M m) { return m.emb; }},
    {"base_num_query_heads", [](M m) { return m.q_heads; }},
    {"base_num_kv_heads", [](M m) { return m.kv_heads; }},
    {"base_mlp_dim", [](M m) { return m.mlp; }},
    {"vocab_size", [](M m) { return m.vocab; }},
    {"head_dim", [](M m) { return m.head_dim; }},
    {"base_moe_mlp_dim", [](M m) { return m.moe_mlp; }},
    {"num_experts", [](M m) { return m.num_experts; }},
    {"num_experts_per_tok", [](M m) { return m.top_k; }},
    {"shared_experts", [](M m) { return m.shared_experts; }},
    {"first_num_dense_layers", [](M m) { return m.first_dense_layers; }},
    {"q_lora_rank", [](M m) { return m.q_lora_rank; }},
    {"kv_lora_rank", [](M m) { return m.kv_lora_rank; }},
    {"qk_nope_head_dim", [](M m) { return m.qk_nope_head_dim; }},
    {"qk_rope_head_dim", [](M m) { return m.qk_rope_head_dim; }},
    {"v_head_dim", [](M m) { return m.v_head_dim; }},
    {"num_kv_shared_layers", [](M m) { return m.kv_shared_layers; }},
    {"hidden_size_per_layer_input", [](M m) { return m.per_layer_dim; }},
    {"vocab_size_per_layer_input", [](M m) { return m.per_layer_vocab; }},
    {"global_head_dim", [](M m) { return m.global_head_dim; }},
    {"global_num_kv_heads", [](M m) { return m.global_kv_heads; }},
    {"sliding_window_size", [](M m) { return window_of(m, WindowShape::sliding); }},
    {"chunk_attn_window_size", [](M m) { return window_of(m, WindowShape::chunked); }},
    {"o_groups", [](M m) { return m.o_groups; }},
    {"o_lora_rank", [](M m) { return m.o_lora_rank; }},
    {"first_num_hash_layers", [](M m) { return m.hash_layers; }},
    {"gdn_conv_kernel_dim", [](M m) { return m.gdn_conv_kernel_dim; }},
    {"gdn_key_head_dim", [](M m) { return m.gdn_key_head_dim; }},
    {"gdn_value_head_dim", [](M m) { return m.gdn_value_head_dim; }},
    {"gdn_num_key_heads", [](M m) { return m.gdn_num_key_heads; }},
    {"gdn_num_value_heads", [](M m) { return m.gdn_num_value_heads; }},
    {"gdn_chunk_size", [](M m) { return m.gdn_chunk_size; }},
    {"indexer_n_heads", [](M m) { return m.indexer_n_heads; }},
    {"indexer_head_dim", [](M m) { return m.indexer_head_dim; }},
    {"indexer_topk", [](M m) { return m.indexer_topk; }},
    {"mtp_num_layers", [](M m) { return m.mtp_num_layers; }},
    {"trainable_position_size", [](M m) { return m.trainable_position_size > 0 ? m.trainable_position_size : -1; }},
};

std::string flag(bool value) { return value ? "true" : "false"; }

std::string attention_type(M model) { return std::string(name_of(model.attention_type)); }

/// models/qwen3_custom.py wants moe_expert_input_dim to be the same.
std::string attention_output_dim(M model) { return fmt::to_string(model.attention_output_dim); }

/// The model's own file leaves it at 1, which the schedule does not start with: printed commands name it.
std::string split_factor(M model) { return fmt::to_string(model.use_batch_split_schedule ? batch_split_factor : 1); }

std::string nope_layer_interval(M model) {
  return model.decoder_block.l2_qk_norm ? fmt::to_string(model.attention_pattern.locals_per_period + 1) : "-1";
}

struct ArchitectureMember {
  std::string_view key;
  std::string (*member)(const Model&);
};

constexpr ArchitectureMember architecture[] = {
    {"decoder_block", [](M m) { return std::string(m.decoder_block.name); }},
    {"attention_type", attention_type},
    {"use_batch_split_schedule", [](M m) { return flag(m.use_batch_split_schedule); }},
    {"batch_split_factor", split_factor},
    {"mlp_activations", [](M m) { return fmt::format("{}", fmt::join(m.mlp_activations, ",")); }},
    {"logits_via_embedding", [](M m) { return flag(m.tied_embedding); }},
    {"use_qk_norm", [](M m) { return flag(m.use_qk_norm); }},
    {"use_post_attn_norm", [](M m) { return flag(m.use_post_attn_norm); }},
    {"use_post_ffw_norm", [](M m) { return flag(m.use_post_ffw_norm); }},
    {"attention_bias", [](M m) { return flag(m.attention_bias); }},
    {"mlp_bias", [](M m) { return flag(m.mlp_bias); }},
    {"attention_sink", [](M m) { return flag(m.attention_sink); }},
    {"fused_qkv", [](M m) { return flag(m.fused_qkv); }},
    {"fused_mlp", [](M m) { return flag(m.fused_mlp); }},
    {"routed_bias", [](M m) { return flag(m.routed_bias); }},
    {"share_kv_projections", [](M m) { return flag(m.share_kv_projections); }},
    {"use_double_wide_mlp", [](M m) { return flag(m.use_double_wide_mlp); }},
    {"attention_output_dim", attention_output_dim},
    {"moe_expert_input_dim", attention_output_dim},
    {"nope_layer_interval", nope_layer_interval},
    {"use_indexer", [](M m) { return flag(m.use_indexer); }},
    {"mhc_expansion_rate", [](M m) { return fmt::to_string(m.mhc_expansion_rate); }},
    {"compress_ratios", [](M m) { return fmt::format("{}", fmt::join(m.compress_ratios, ",")); }},
    {"engram_layers", [](M m) { return fmt::format("{}", fmt::join(m.engram_layers, ",")); }},
    {"engram_vocab_bases", [](M m) { return fmt::format("{}", fmt::join(m.engram_vocab_bases, ",")); }},
    {"engram_num_heads", [](M m) { return fmt::to_string(m.engram_num_heads); }},
    {"engram_head_dim", [](M m) { return fmt::to_string(m.engram_head_dim); }},
    {"engram_kernel_size", [](M m) { return fmt::to_string(m.engram_kernel_size); }},
    {"interleave_moe_layer_step", [](M m) { return fmt::to_string(m.interleave_moe_step); }},
    {"inhomogeneous_layer_cycle_interval", [](M m) { return fmt::to_string(m.cycle_interval); }},
};

template <class Table>
auto member_in(const Table& table, std::string_view key) {
  const auto row = std::find_if(std::begin(table), std::end(table), [&](const auto& entry) { return entry.key == key; });
  if (row == std::end(table)) throw InternalError(fmt::format("maxtext_keys.json: no member stands for '{}'", key));
  return row->member;
}

}  // namespace

SettingField setting_member(std::string_view key) { return member_in(settings, key); }
std::int64_t (*model_dim_member(std::string_view key))(const Model&) { return member_in(model_dims, key); }
std::string (*architecture_member(std::string_view key))(const Model&) { return member_in(architecture, key); }

std::size_t setting_members() { return std::size(settings); }
std::size_t model_dim_members() { return std::size(model_dims); }
std::size_t architecture_members() { return std::size(architecture); }

}  // namespace shardplan
