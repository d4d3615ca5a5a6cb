#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/keys/key_members.hpp>
#include <iterator>
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
    {"quantization_local_shard_count", &C::quantization_local_shard_count},
    {"scan_layers", &C::scan_layers},
    {"megablox", &C::megablox},
    {"capacity_factor", &C::capacity_factor},
    {"ragged_buffer_factor", &C::ragged_buffer_factor},
    {"moe_dispatch_no_expert_sharding", &C::moe_dispatch_no_expert_sharding},
    {"float32_weight_sum", &C::float32_weight_sum},
    {"attention", &C::attention},
    {"context_parallel_strategy", &C::context_parallel_strategy},
    {"context_parallel_load_balance", &C::context_parallel_load_balance},
    {"packing", &C::packing},
    {"max_segments_per_seq", &C::max_segments_per_seq},
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
    {"allow_split_physical_axes", &C::allow_split_physical_axes},
    {"logits_dot_in_fp32", &C::logits_dot_in_fp32},
    {"cast_logits_to_fp32", &C::cast_logits_to_fp32},
    {"sharding_tolerance", &C::sharding_tolerance},
};

struct ModelDimMember {
  std::string_view key;
  std::int64_t (*member)(const Model&);
};

using M = const Model&;

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
    {"gdn_conv_kernel_dim", [](M m) { return m.gdn_conv_kernel_dim; }},
    {"gdn_key_head_dim", [](M m) { return m.gdn_key_head_dim; }},
    {"gdn_value_head_dim", [](M m) { return m.gdn_value_head_dim; }},
    {"gdn_num_key_heads", [](M m) { return m.gdn_num_key_heads; }},
    {"gdn_num_value_heads", [](M m) { return m.gdn_num_value_heads; }},
    {"gdn_chunk_size", [](M m) { return m.gdn_chunk_size; }},
    {"indexer_n_heads", [](M m) { return m.indexer_n_heads; }},
    {"indexer_head_dim", [](M m) { return m.indexer_head_dim; }},
    {"indexer_topk", [](M m) { return m.indexer_topk; }},
    {"sliding_window_size", [](M m) { return m.attention_pattern.window; }},
    {"trainable_position_size", [](M m) { return m.trainable_position_size > 0 ? m.trainable_position_size : -1; }},
};

std::string flag(bool value) { return value ? "true" : "false"; }

std::string attention_type(M model) { return std::string(name_of(model.attention_type)); }

struct ArchitectureMember {
  std::string_view key;
  std::string (*member)(const Model&);
};

constexpr ArchitectureMember architecture[] = {
    {"decoder_block", [](M m) { return std::string(m.decoder_block.name); }},
    {"attention_type", attention_type},
    {"mlp_activations", [](M m) { return fmt::format("{}", fmt::join(m.mlp_activations, ",")); }},
    {"logits_via_embedding", [](M m) { return flag(m.tied_embedding); }},
    {"use_qk_norm", [](M m) { return flag(m.use_qk_norm); }},
    {"use_post_attn_norm", [](M m) { return flag(m.use_post_attn_norm); }},
    {"use_post_ffw_norm", [](M m) { return flag(m.use_post_ffw_norm); }},
    {"attention_bias", [](M m) { return flag(m.attention_bias); }},
    {"mlp_bias", [](M m) { return flag(m.mlp_bias); }},
    {"attention_sink", [](M m) { return flag(m.attention_sink); }},
    {"fused_qkv", [](M m) { return flag(m.fused_qkv); }},
    {"routed_bias", [](M m) { return flag(m.routed_bias); }},
    {"share_kv_projections", [](M m) { return flag(m.share_kv_projections); }},
    {"use_indexer", [](M m) { return flag(m.use_indexer); }},
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
