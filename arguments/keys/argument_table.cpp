// The tables of MaxText arguments that change the program, or would. Defaults: MaxText configs/base.yml at e591f30cb.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <arguments/keys/argument_table.hpp>

namespace shardplan {

std::span<const SettingArgument> setting_arguments() {
  using C = TrainConfig;
  static const std::vector<SettingArgument> table = {
      {"per_device_batch_size", &C::per_device_batch_size, 0, {}},
      {"max_target_length", &C::max_target_length, 1, {}},
      {"gradient_accumulation_steps", &C::gradient_accumulation_steps, 1, {}},
      {"dtype", &C::dtype, 0, {}},
      {"weight_dtype", &C::weight_dtype, 0, {}},
      {"grad_dtype", &C::grad_dtype, 0, {}},
      {"scan_layers", &C::scan_layers, 0, {}},
      {"megablox", &C::megablox, 0, {}},
      {"capacity_factor", &C::capacity_factor, -1, {}},
      {"ragged_buffer_factor", &C::ragged_buffer_factor, -1, {}},
      {"moe_dispatch_no_expert_sharding", &C::moe_dispatch_no_expert_sharding, 0, {}},
      {"float32_weight_sum", &C::float32_weight_sum, 0, {}},
      {"attention", &C::attention, 0, {"autoselected", "dot_product", "flash", "cudnn_flash_te", "cudnn_flash_jax"}},
      {"context_parallel_strategy", &C::context_parallel_strategy, 0, {"all_gather", "ring", "ulysses", "usp"}},
      {"context_parallel_load_balance", &C::context_parallel_load_balance, 0, {}},
      {"num_pipeline_microbatches", &C::num_pipeline_microbatches, 1, {}},
      {"num_pipeline_repeats", &C::num_pipeline_repeats, 1, {}},
      {"num_layers_per_pipeline_stage", &C::num_layers_per_pipeline_stage, 1, {}},
      {"pipeline_parallel_layers", &C::pipeline_parallel_layers, 1, {}},
      {"pipeline_delay_activation_forwarding", &C::pipeline_delay_activation_forwarding, 0, {}},
      {"pipeline_fsdp_ag_once", &C::pipeline_fsdp_ag_once, 0, {}},
      {"pipeline_fsdp_ag_per_repeat", &C::pipeline_fsdp_ag_per_repeat, 0, {}},
      {"shard_optimizer_over_data", &C::shard_optimizer_over_data, 0, {}},
      {"enable_nnx", &C::enable_nnx, 0, {}},
      {"pure_nnx", &C::pure_nnx, 0, {}},
      {"pure_nnx_decoder", &C::pure_nnx_decoder, 0, {}},
      {"use_iota_embed", &C::use_iota_embed, 0, {}},
      {"num_vocab_tiling", &C::num_vocab_tiling, 1, {}},
      {"vocab_tiling_ag_once", &C::vocab_tiling_ag_once, 0, {}},
      {"optimizer_memory_host_offload", &C::optimizer_memory_host_offload, 0, {}},
      {"allow_split_physical_axes", &C::allow_split_physical_axes, 0, {}},
      {"logits_dot_in_fp32", &C::logits_dot_in_fp32, 0, {}},
      {"cast_logits_to_fp32", &C::cast_logits_to_fp32, 0, {}},
  };
  return table;
}

std::span<const SpecialArgument> special_arguments() {
  static constexpr SpecialArgument table[] = {
      {"model_name", "the model"},
      {"override_model_config", "lets an argument differ from the model's own file"},
      {"compile_topology", "the machine: one slice"},
      {"compile_topology_num_slices", "slices"},
      {"num_slices", "slices"},
      {"hardware", "tpu or gpu"},
      {"custom_mesh_and_rule", "the rule set"},
      {"logical_axis_rules", "rules merged over the base list"},
      {"override_logical_axis_rules", "logical_axis_rules replaces the base list"},
      {"mesh_axes", "the axes of the mesh, in order"},
      {"data_sharding", "the axes over which the input batch is laid out"},
      {"shard_mode", "auto or explicit"},
      {"sparse_matmul", "which mixture-of-experts path"},
      {"use_ring_of_experts", "which mixture-of-experts path"},
      {"opt_type", "adamw, adam_pax, sgd or muon"},
      {"mu_dtype", "weight_dtype unless set"},
      {"remat_policy", "a policy, or custom with one argument for each activation"},
      {"use_tokamax_splash", "attention kernel that ring and ulysses need on TPU"},
  };
  return table;
}

// in_every_model: counted over the 78 files of MaxText configs/models.
std::span<const ModelDimArgument> model_dim_arguments() {
  using M = const Model&;
  static constexpr ModelDimArgument table[] = {
      {"base_num_decoder_layers", [](M m) { return m.layers; }, 16, true},
      {"base_emb_dim", [](M m) { return m.emb; }, 2048, true},
      {"base_num_query_heads", [](M m) { return m.q_heads; }, 16, true},
      {"base_num_kv_heads", [](M m) { return m.kv_heads; }, 16, true},
      {"base_mlp_dim", [](M m) { return m.mlp; }, 7168, true},
      {"vocab_size", [](M m) { return m.vocab; }, 32000, true},
      {"head_dim", [](M m) { return m.head_dim; }, 128, false},
      {"base_moe_mlp_dim", [](M m) { return m.moe_mlp; }, -1, false},
      {"num_experts", [](M m) { return m.num_experts; }, 1, false},
      {"num_experts_per_tok", [](M m) { return m.top_k; }, 1, false},
      {"shared_experts", [](M m) { return m.shared_experts; }, 0, false},
      {"first_num_dense_layers", [](M m) { return m.first_dense_layers; }, 0, false},
      {"q_lora_rank", [](M m) { return m.q_lora_rank; }, 0, false},
      {"kv_lora_rank", [](M m) { return m.kv_lora_rank; }, 512, false},
      {"qk_nope_head_dim", [](M m) { return m.qk_nope_head_dim; }, 128, false},
      {"qk_rope_head_dim", [](M m) { return m.qk_rope_head_dim; }, 64, false},
      {"v_head_dim", [](M m) { return m.v_head_dim; }, 128, false},
      {"sliding_window_size", [](M m) { return m.attention_pattern.window; }, 0, false},
      {"trainable_position_size", [](M m) { return m.trainable_position_size > 0 ? m.trainable_position_size : -1; },
       -1, false},
  };
  return table;
}

namespace {

std::string flag(bool value) { return value ? "true" : "false"; }

std::string attention_type(const Model& model) {
  switch (model.attention_type) {
    case AttentionType::global:
      return "global";
    case AttentionType::mla:
      return "mla";
    case AttentionType::compressed:
      return "compressed";
  }
  return "";
}

std::string activations(const Model& model) { return fmt::format("{}", fmt::join(model.mlp_activations, ",")); }

}  // namespace

std::span<const ArchitectureArgument> architecture_arguments() {
  static constexpr ArchitectureArgument table[] = {
      {"decoder_block", [](const Model& m) { return m.decoder_block; }, "llama2"},
      {"attention_type", attention_type, "global"},
      {"mlp_activations", activations, "silu,linear"},
      {"logits_via_embedding", [](const Model& m) { return flag(m.tied_embedding); }, "false"},
      {"use_qk_norm", [](const Model& m) { return flag(m.use_qk_norm); }, "false"},
      {"use_post_attn_norm", [](const Model& m) { return flag(m.use_post_attn_norm); }, "false"},
      {"use_post_ffw_norm", [](const Model& m) { return flag(m.use_post_ffw_norm); }, "false"},
      {"attention_bias", [](const Model& m) { return flag(m.attention_bias); }, "false"},
      {"mlp_bias", [](const Model& m) { return flag(m.mlp_bias); }, "false"},
      {"attention_sink", [](const Model& m) { return flag(m.attention_sink); }, "false"},
      {"fused_qkv", [](const Model& m) { return flag(m.fused_qkv); }, "false"},
      {"routed_bias", [](const Model& m) { return flag(m.routed_bias); }, "false"},
      {"share_kv_projections", [](const Model& m) { return flag(m.share_kv_projections); }, "false"},
      {"interleave_moe_layer_step", [](const Model& m) { return fmt::to_string(m.interleave_moe_step); }, "1"},
      {"inhomogeneous_layer_cycle_interval", [](const Model& m) { return fmt::to_string(m.cycle_interval); }, "1"},
  };
  return table;
}

std::span<const RematArgument> remat_arguments() {
  static constexpr RematArgument table[] = {
      {"decoder_layer_input", "device"},
      {"context", "remat"},
      {"mlpwi", "remat"},
      {"mlpwi_0", "remat"},
      {"mlpwi_1", "remat"},
      {"mlpwo", "remat"},
      {"moe_mlpwi_0", "remat"},
      {"moe_mlpwi_1", "remat"},
      {"moe_mlpwo", "remat"},
      {"query_proj", "remat"},
      {"key_proj", "remat"},
      {"value_proj", "remat"},
      {"kv_proj", "remat"},
      {"qkv_proj", "remat"},
      {"out_proj", "remat"},
      {"query_wa_proj", "remat"},
      {"kv_wa_proj", "remat"},
      {"mla_q", "remat"},
      {"mla_kv", "remat"},
      {"attention_out", "remat"},
      {"indexer_cutoff_threshold", "remat"},
  };
  return table;
}

std::span<const AxisArgument> axis_arguments() {
  static constexpr AxisArgument table[] = {
      {"data", "data"},
      {"stage", "pipeline"},  // the one whose flag is not its name
      {"fsdp", "fsdp"},
      {"fsdp_transpose", "fsdp_transpose"},
      {"sequence", "sequence"},  // still parsed, although no mesh has the axis any more
      {"context", "context"},
      {"context_usp_ulysses", "context_usp_ulysses"},
      {"context_autoregressive", "context_autoregressive"},
      {"tensor", "tensor"},
      {"tensor_sequence", "tensor_sequence"},
      {"expert", "expert"},
      {"autoregressive", "autoregressive"},
  };
  return table;
}

std::span<const UnmodelledArgument> unmodelled_arguments() {
  static constexpr UnmodelledArgument table[] = {
      {"quantization", "", "quantized matrix products"},
      {"use_qwix_quantization", "false", "quantized matrix products"},
      {"use_manual_quantization", "false", "quantized matrix products"},
      {"quant_cfg_path", "", "quantized matrix products"},
      {"replicate_quant_scale", "false", "quantized matrix products"},
      {"matmul_precision", "default", "matrix products in more than one pass"},
      {"weight_sparsity_n", "none", "structured sparsity"},
      {"weight_sparsity_m", "none", "structured sparsity"},
      {"te_comm_gemm_overlap", "disabled", "collectives inside matrix products"},
      {"activations_in_float32", "false", "activations in another type"},
      {"float32_qk_product", "false", "attention logits in another type"},
      {"float32_logits", "false", "attention logits in another type"},
      {"float32_gate_logits", "false", "router logits in another type"},
      {"global_parameter_scale", "1", "all dims scaled at once"},
      {"attention_output_dim", "-1", "an attention output of another width"},
      {"global_head_dim", "0", "another head size in global layers"},
      {"global_num_kv_heads", "0", "another head count in global layers"},
      {"chunk_attn_window_size", "0", "chunked attention"},
      {"moba", "false", "mixture of block attention"},
      {"use_ragged_attention", "false", "ragged attention"},
      {"use_indexer", "false", "sparse attention"},
      {"indexer_sparse_training", "false", "sparse attention"},
      {"use_sliced_mla_proj", "false", "sliced projections"},
      {"mla_qk_head_chunk_size", "0", "attention in chunks of heads"},
      {"use_qk_clip", "false", "clipped attention logits"},
      {"o_lora_rank", "0", "grouped output projections"},
      {"o_groups", "0", "grouped output projections"},
      {"compress_ratios", "[]", "compressed attention"},
      {"fused_mlp", "false", "fused MLP weights"},
      {"hidden_size_per_layer_input", "0", "per-layer embeddings"},
      {"vocab_size_per_layer_input", "0", "per-layer embeddings"},
      {"num_kv_shared_layers", "0", "keys and values shared between layers"},
      {"use_double_wide_mlp", "false", "a wider MLP in some layers"},
      {"mtp_num_layers", "0", "multi-token prediction"},
      {"mhc_expansion_rate", "1", "hyper-connections"},
      {"enable_mhc_lite", "false", "hyper-connections"},
      {"engram_layers", "[]", "n-gram memory layers"},
      {"use_multimodal", "false", "image towers"},
      {"use_audio", "false", "audio towers"},
      {"num_moe_token_chunks", "1", "mixture of experts in chunks of tokens"},
      {"num_moe_emb_chunks", "0", "mixture of experts in chunks of the embedding"},
      {"moe_expert_input_dim", "-1", "experts of another input width"},
      {"use_random_routing", "false", "random routing"},
      {"use_ragged_sort", "false", "another token sort"},
      {"use_gather_mosaic_kernel", "false", "another token sort"},
      {"use_tokamax_gmm", "false", "another grouped-matmul kernel"},
      {"use_gmm_v2", "false", "another grouped-matmul kernel"},
      {"merge_gating_gmm", "false", "merged expert input projections"},
      {"moe_fsdp_use_two_stage_all_gather", "false", "weights gathered in two stages"},
      {"dense_fsdp_use_two_stage_all_gather", "false", "weights gathered in two stages"},
      {"shard_exp_on_fsdp", "false",
       "experts split over fsdp by flag (custom_mesh_and_rule=shard-exp-on-fsdp is modelled)"},
      {"use_2d_fsdp_sharding", "false", "expert weights split over two fsdp axes"},
      {"use_batch_split_schedule", "false", "two half batches interleaved"},
      {"batch_split_factor", "1", "two half batches interleaved"},
      {"first_num_hash_layers", "0", "hash routing"},
      {"scan_pipeline_iterations", "true", "an unrolled pipeline"},
      {"scan_pipeline_repeats", "false", "a scan over pipeline repeats"},
      {"scan_layers_per_stage", "false", "a scan over the layers of a stage"},
      {"set_remat_policy_on_pipeline_iterations", "true", "recomputation of a whole pipeline iteration"},
      {"set_remat_policy_on_layers_per_stage", "false", "recomputation of a pipeline stage"},
      {"parameter_memory_host_offload", "false", "parameters in host memory"},
      {"param_scan_axis", "1", "another place for the layer dim"},
      {"engram", "remat", "n-gram memory layers"},
      {"dropout_rate", "0", "dropout"},
      {"experimental_sa_quant_q_fp8", "false", "quantized attention"},
      {"experimental_sa_quant_k_fp8", "false", "quantized attention"},
      {"trainable_parameters_mask", "[]", "frozen parameters"},
      {"skip_step_on_spikes", "false", "optimizer steps that may be skipped"},
      {"enable_diloco", "false", "DiLoCo"},
      {"enable_streaming_diloco", "false", "DiLoCo"},
      {"ici_diloco_parallelism", "1", "DiLoCo"},
      {"dcn_diloco_parallelism", "1", "DiLoCo"},
      {"use_dpo", "false", "preference training"},
      {"use_sft", "false", "fine-tuning"},
      {"elastic_enabled", "false", "elastic training"},
      {"training_objective", "causal_lm", "another training objective"},
      {"enable_rampup_batch_size", "false", "a growing batch"},
      {"custom_mesh", "", "hand-made device orders"},
      {"optimize_mesh_for_tpu_v6e", "false", "hand-made device orders"},
      {"subslice_shape", "", "a part of a slice"},
      {"internal_compile", "false", "another device count"},
      {"input_data_sharding_logical_axes", "activation_embed_and_logits_batch,activation_norm_length",
       "another input layout"},
      {"context_sharding", "context", "another context axis (custom_mesh_and_rule chooses one)"},
      {"ulysses_context_sharding", "context_usp_ulysses", "another context axis"},
      {"context_parallel_reorder_strategy", "auto", "another order of the sequence"},
      {"use_jax_splash", "false", "another attention kernel"},
      {"shardy", "true", "the GSPMD partitioner"},
      {"check_vma", "false", "checked shard_map outputs"},
      {"force_unroll", "false", "unrolled loops"},
      {"max_checkify", "false", "run-time checks"},
      {"base_config", "base.yml", "defaults other than base.yml"},
  };
  return table;
}

}  // namespace shardplan
