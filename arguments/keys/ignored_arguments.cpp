// MaxText arguments that cannot change what a train step shards, moves or keeps: accepted and ignored. Constants inside
// layers and kernel tiles are here too; the prices of kernels are shares of peak, not functions of tile sizes.
#include <arguments/keys/argument_table.hpp>

namespace shardplan {

std::span<const IgnoredTopic> ignored_topics() {
  static constexpr IgnoredTopic table[] = {
      {"logging, metrics and profiling",
       "abort_on_inf_loss abort_on_nan_loss base_output_directory debug_sharding dump_hlo "
       "dump_hlo_delete_local_after dump_hlo_gcs_dir dump_hlo_local_dir dump_hlo_local_module_name "
       "dump_hlo_module_name dump_hlo_upload_all dump_hlo_xla_flags dump_jaxpr dump_jaxpr_delete_local_after "
       "dump_jaxpr_gcs_dir dump_jaxpr_local_dir dump_step enable_gcp_goodput_metrics "
       "enable_gcp_step_deviation_metrics enable_goodput_recording enable_jax_profiler enable_pathways_goodput "
       "enable_tensorboard enable_tpu_profiling_options enable_wandb gcs_metrics goodput_upload_interval_seconds "
       "heartbeat_reporting_interval_in_seconds hide_profiler_step_metric jax_debug_log_modules "
       "jax_profiler_port log_config log_moe_bias_norms log_period managed_mldiagnostics "
       "managed_mldiagnostics_on_demand_profiling managed_mldiagnostics_region managed_mldiagnostics_run_group "
       "managed_mldiagnostics_storage_path metrics_file monitor_goodput monitor_step_time_deviation "
       "profile_cleanly profile_periodically_period profile_power_events profiler profiler_steps prometheus_port "
       "record_internal_nn_metrics report_heartbeat_metric_for_gcp_monitoring "
       "report_performance_metric_for_gcp_monitoring run_name save_config_to_gcs skip_first_n_steps_for_profiler "
       "step_deviation_interval_seconds tpu_num_chips_to_profile_per_task tpu_num_sparse_core_tiles_to_trace "
       "tpu_num_sparse_cores_to_trace upload_all_profiler_results use_vertex_tensorboard "
       "vertex_tensorboard_project vertex_tensorboard_region wandb_project_name wandb_run_name "
       "write_estimator_result xprof_e2e_enable_fw_power_level_event xprof_e2e_enable_fw_thermal_event "
       "xprof_e2e_enable_fw_throttle_event xprof_tpu_power_trace_level"},
      {"checkpoints",
       "async_checkpointing checkpoint_conversion_fn checkpoint_period checkpoint_storage_concurrent_gb "
       "checkpoint_storage_target_data_file_size_bytes checkpoint_storage_use_ocdbt checkpoint_storage_use_zarr3 "
       "checkpoint_todelete_full_path checkpoint_todelete_subdir colocated_python_checkpointing "
       "enable_autocheckpoint enable_checkpoint_cloud_logger enable_checkpointing "
       "enable_continuous_checkpointing enable_emergency_checkpoint enable_multi_tier_checkpointing "
       "enable_orbax_v1 enable_single_replica_ckpt_restoring hf_lora_adapter_path load_full_state_path "
       "load_parameters_path local_checkpoint_directory local_checkpoint_period lora_input_adapters_path "
       "max_num_checkpoints_to_keep mtc_data_parallelism multi_tier_checkpointing_backup_interval_minutes "
       "multi_tier_checkpointing_backup_interval_steps save_checkpoint_on_completion save_checkpoint_on_start "
       "source_checkpoint_layout"},
      {"input pipeline",
       "add_bos add_eos chat_template chat_template_path colocated_python_data_input data_shuffle_seed "
       "dataset_name dataset_path dataset_type default_prompt enable_data_shuffling eval_data_columns "
       "eval_dataset_name eval_image_column eval_split expansion_factor_real_data generate_padding_batch_eval "
       "generate_padding_batch_train global_rampup_samples grain_data_source_max_workers grain_eval_files "
       "grain_file_type grain_index_storage_option grain_num_threads grain_num_threads_eval grain_packing_type "
       "grain_per_worker_buffer_size grain_per_worker_buffer_size_eval grain_prefetch_buffer_size "
       "grain_prefetch_buffer_size_eval grain_ram_budget_mb grain_shuffle_buffer_size grain_train_files "
       "grain_train_mixture_config_path grain_use_elastic_iterator grain_worker_count grain_worker_count_eval "
       "hf_access_token hf_data_dir hf_eval_files hf_eval_split hf_name hf_path hf_train_files max_corpus_chars "
       "max_segments_per_seq num_epoch olmo_apply_ngram_filter olmo_index_path olmo_path_remap_from "
       "olmo_path_remap_to packing per_device_batch_size_increment per_device_batch_size_start "
       "reuse_example_batch sft_train_on_completion_only tokenize_eval_data tokenize_train_data tokenizer_path "
       "tokenizer_type train_data_columns train_image_column train_split use_chat_template use_truncation"},
      {"evaluation",
       "custom_mesh_and_rule_for_eval eval_interval eval_per_device_batch_size eval_start_step eval_steps "
       "logical_axis_rules_for_eval target_eval_loss"},
      {"inference",
       "ar_cache_axis_order autoregressive_decode_assert checkpoint_is_quantized compute_axis_order "
       "decode_sampling_nucleus_p decode_sampling_strategy decode_sampling_temperature decode_sampling_top_k "
       "enable_llm_inference_pool enable_model_warmup enable_prefix_caching force_q_layout generate_slice "
       "inference_benchmark_test inference_metadata_file inference_microbenchmark_log_file_path "
       "inference_microbenchmark_loop_iters inference_microbenchmark_num_samples "
       "inference_microbenchmark_prefill_lengths inference_microbenchmark_stages inference_server kv_quant_axis "
       "kv_quant_dtype load_from_prefill_dir max_prefill_predict_length mla_naive_kvcache model_call_mode "
       "multi_sampling prefill_cache_axis_order prefill_cache_dir prefill_chunk_size prefill_slice "
       "prefix_caching_dram_byte prefix_caching_hbm_byte prompt quantize_kvcache reshape_q return_log_prob "
       "save_quantized_params_path stack_prefill_result_cache use_chunked_prefill vllm_additional_config "
       "vllm_hf_config_path vllm_hf_overrides"},
      {"launching and compiling",
       "compile_xla_flags compiled_trainstep_file dcn_bandwidth_burst dcn_bandwidth_interface "
       "dcn_bandwidth_latency dcn_bandwidth_limit elastic_backup_kind elastic_max_retries "
       "elastic_min_slice_count elastic_timeout_seconds enable_single_controller internal_compile_num_devices "
       "jax_cache_dir jax_distributed_initialization_timeout max_inflight_computations "
       "remove_size_one_mesh_axis_from_type sharding_tolerance skip_jax_distributed_system steps"},
      {"optimizer constants",
       "adam_b1 adam_b2 adam_eps adam_eps_root adam_weight_decay adamw_mask communication_overlapping_alpha "
       "diloco_outer_lr diloco_outer_momentum diloco_sync_period gradient_clipping_threshold learning_rate "
       "learning_rate_final_fraction learning_rate_schedule_steps lr_schedule_type muon_beta muon_consistent_rms "
       "muon_weight_decay num_communication_overlapping_steps num_diloco_fragments skip_step_interval "
       "skip_step_scaling_factor use_sequential_layers warmup_steps_fraction wsd_decay_steps_fraction "
       "wsd_decay_style"},
      {"values inside layers",
       "attn_logits_soft_cap beta_fast beta_slow dense_init_scale enable_dropout enable_padding_causal_mask "
       "final_logits_soft_cap global_rope_max_timescale global_rope_proportion init_weights_seed "
       "load_balance_loss_weight local_rope_max_timescale local_rope_proportion max_position_embeddings "
       "mlp_activations_limit mscale n_routing_groups nope_layer_interval norm_topk_prob "
       "normalization_layer_epsilon normalize_embedding_logits original_max_position_embeddings "
       "partial_rotary_factor qk_norm_with_scale rope_attention_scaling rope_factor rope_interleave "
       "rope_linear_scaling_factor rope_max_timescale rope_min_timescale rope_pairwise rope_truncate rope_type "
       "rope_use_scale routed_bias_update_rate routed_scaling_factor routed_score_func temperature_tuning "
       "topk_routing_group use_untrainable_positional_embedding v_norm_with_scale z_loss_multiplier"},
      {"kernel tiles and kernel variants with the same operands and results",
       "cost_estimate_flops_bwd cost_estimate_flops_fwd dq_reduction_steps local_sa_block_kv "
       "local_sa_block_kv_compute local_sa_block_kv_dkv local_sa_block_kv_dkv_compute local_sa_block_kv_dq "
       "local_sa_block_q local_sa_block_q_dkv local_sa_block_q_dq local_sa_fuse_reciprocal local_sa_k_layout "
       "local_sa_q_layout local_sa_use_base2_exp local_sa_use_fused_bwd_kernel local_sa_v_layout "
       "local_use_splash_scheduler ragged_gather_cost_estimate_bytes_accessed ragged_gather_cost_estimate_flops "
       "ragged_gather_fallback ragged_gather_reduce_cost_estimate_bytes_accessed "
       "ragged_gather_reduce_cost_estimate_flops ragged_gather_reduce_fallback ring_scan_unroll sa_block_kv "
       "sa_block_kv_compute sa_block_kv_dkv sa_block_kv_dkv_compute sa_block_kv_dq sa_block_q sa_block_q_dkv "
       "sa_block_q_dq sa_bwd_dkv_megacore sa_fuse_reciprocal sa_k_layout sa_q_layout sa_use_base2_exp "
       "sa_use_fused_bwd_kernel sa_v_layout use_custom_sort_vjp use_max_logit_estimate use_splash_scheduler "
       "wi_tile_dlhs_batch_seq wi_tile_dlhs_embed_dim wi_tile_dlhs_mlp_dim wi_tile_drhs_batch_seq "
       "wi_tile_drhs_embed_dim wi_tile_drhs_mlp_dim wi_tile_fwd_batch_seq wi_tile_fwd_embed_dim "
       "wi_tile_fwd_mlp_dim wo_tile_dlhs_batch_seq wo_tile_dlhs_embed_dim wo_tile_dlhs_mlp_dim "
       "wo_tile_drhs_batch_seq wo_tile_drhs_embed_dim wo_tile_drhs_mlp_dim wo_tile_fwd_batch_seq "
       "wo_tile_fwd_embed_dim wo_tile_fwd_mlp_dim"},
      {"distillation",
       "distill_alpha distill_alpha_end distill_alpha_schedule distill_beta distill_beta_end "
       "distill_beta_schedule distill_feature_loss_type distill_layer_indices distill_temperature "
       "distill_temperature_end distill_temperature_schedule"},
      {"image and audio towers (use_multimodal and use_audio are refused)",
       "activation_dropout_for_audio activation_function_for_audio attention_dropout_for_audio audio_path "
       "audio_placeholder conv_chunksize_for_audio conv_stride_for_vit d_model_for_audio "
       "deepstack_visual_indexes_for_vit downsample_hidden_size_for_audio dtype_mm "
       "encoder_attention_heads_for_audio encoder_ffn_dim_for_audio encoder_layers_for_audio "
       "freeze_audio_encoder_params freeze_vision_encoder_params hidden_size_for_vit image_path "
       "image_placeholder image_size_for_vit intermediate_size_for_vit max_num_images_per_example "
       "max_sample_len_for_audio max_source_positions_for_audio max_timescale_for_audio mrope_section "
       "n_window_for_audio n_window_infer_for_audio num_attention_heads_for_vit num_channels_for_vit "
       "num_conv_layers_for_audio num_hidden_layers_for_vit num_mel_bins_for_audio "
       "num_position_embeddings_for_vit out_hidden_size_for_vit output_dim_for_audio patch_size_for_vit "
       "pixel_shuffle_ratio_for_vit posemb_type_for_vit position_id_per_seconds projector_dropout_for_vit "
       "projector_input_dim_for_vit projector_output_dim_for_vit remat_policy_for_vit rope_theta_for_vit "
       "scale_embedding_for_audio spatial_merge_size_for_vit temporal_patch_size_for_vit tile_size_for_vit "
       "use_audio_in_video use_mrope video_max_grid_h video_max_grid_t video_max_grid_w video_path "
       "video_placeholder vision_output_dim_for_vit vision_output_length"},
      {"parts of features that are refused, or that a model has of itself",
       "act_quantization_calibration_method block_diffusion_canvas_policy block_diffusion_logit_alignment "
       "block_diffusion_mask_id block_diffusion_min_noise bwd_quantization_calibration_method causal_block_size "
       "compressed_rope_max_timescale constant_bound_config engram_head_dim engram_kernel_size "
       "engram_max_ngram_size engram_num_heads engram_seed engram_vocab_bases gdn_chunk_size gdn_conv_kernel_dim "
       "gdn_key_head_dim gdn_num_key_heads gdn_num_value_heads gdn_value_head_dim indexer_approx_top_k_recall "
       "indexer_head_dim indexer_loss_scaling_factor indexer_mask_exact_topk indexer_n_heads indexer_topk "
       "indexer_use_approx_top_k mhc_pallas_kernel_bwd_block_size mhc_pallas_kernel_fwd_block_size "
       "moba_chunk_size moba_topk moe_chunk_barrier mtp_eval_target_module mtp_loss_scaling_factor "
       "qk_clip_threshold quantization_local_shard_count ragged_block_size sinkhorn_iterations "
       "use_mhc_pallas_kernel use_qk_norm_in_gdn weight_quantization_calibration_method "
       "weight_sparsity_start_step weight_sparsity_update_step"},
  };
  return table;
}

}  // namespace shardplan
