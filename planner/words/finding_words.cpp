#include <planner/words/finding_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

FindingWords words_of(FindingId id) {
  switch (id) {
    case FindingId::sequence_gathered_for_attention:
      return {"No rule splits activation_input_length_attn: attention inputs are gathered along the sequence.",
              "Add the rule, with the axes of activation_norm_length."};
    case FindingId::attention_replicated:
      return {"A kernel outside shard_map is computed whole on every device: queries, keys and values are gathered.",
              "attention=cudnn_flash_te, or another kernel that MaxText maps over the mesh."};
    case FindingId::expanded_key_value_gathered:
      return {"Context parallelism exchanges the expanded keys and values of latent attention.", "Ring attention."};
    case FindingId::context_unbalanced:
      return {"context_parallel_load_balance=false: of a causal sequence the last device's run has the most keys before it, "
              "and the others wait.",
              "context_parallel_load_balance=true."};
    case FindingId::attention_ignores_windows:
      return {"MaxText gives the attention kernel no window: layers with one attend to all tokens before a query.",
              "attention=cudnn_flash_te, and packing=false."};
    case FindingId::attention_ignores_cap:
      return {"MaxText gives the attention kernel no attn_logits_soft_cap: another model is trained.",
              "attention=dot_product."};
    case FindingId::expert_axis_stolen:
      return {"Expert double-mapping: the batch dim of the dropping path's dispatch takes the expert axis, so expert "
              "weights are gathered and their gradients reduced instead of tokens being exchanged.",
              "moe_dispatch_no_expert_sharding=True; beside a second batch axis sparse_matmul=True."};
    case FindingId::expert_output_not_peeled:
      return {"The output of wo keeps the expert axis on its batch, so that wo is gathered.", "sparse_matmul=True."};
    case FindingId::missing_all_to_all:
      return {"Tokens, or all that experts make of them, are gathered over the expert axes instead of exchanged, or no "
              "rule splits the experts.",
              "sparse_matmul=True, or a rule for exp, activation_batch_moe or activation_exp."};
    case FindingId::worst_case_rows:
      return {"Drop-less expert buffers hold the worst case of routing.",
              "ragged_buffer_factor; in a ring of experts use_ring_of_experts=False first."};
    case FindingId::all_tokens_routed:
      return {"MaxText constrains the places that the dropping path scatters routing weights to, so every device scatters "
              "the choices of all of them; XLA:TPU writes number by number, and no step here has it.",
              "sparse_matmul=True."};
    case FindingId::bias_gradients_unpriced:
      return {"The gradients of experts' biases take time on this GPU that nobody measured, and is in no step here.",
              "A profile with atomic_additions."};
    case FindingId::bias_gradients_wait:
      return {"On GPUs the gradients of experts' biases are bfloat16 rows added to one row each, one number after another.",
              "Fewer tokens at a time: a smaller per_device_batch_size, with gradient_accumulation_steps."};
    case FindingId::expert_features_split_apart:
      return {"On the dropping path weights and tokens split contracted features over different axes: what the compiler "
              "moves is not counted.",
              "One of these axes alone, or sparse_matmul=true."};
    case FindingId::minimal_recomputes_wi_1:
      return {"The minimal remat policies save wi_0 but not wi_1 of the sparse path.",
              "remat_policy=custom with all that the policy saves, and moe_mlpwi_1, on the device."};
    case FindingId::weights_not_sharded:
      return {"More weights lack an axis than sharding_tolerance allows: MaxText refuses to start.",
              "Add the axis to the rule."};
    case FindingId::layer_stack_reshard:
      return {"pipeline_fsdp_ag_once with repeats moves all layer weights between stages.",
              "One repeat, or the flag off."};
    case FindingId::optimizer_shards_permuted:
      return {"shard_optimizer_over_data beside fsdp: shards change places, and the update gathers whole weights.",
              "One of the two axes, or gradient_accumulation_steps above 1."};
    case FindingId::zero1_whole_weights:
      return {"shard_optimizer_over_data: whole weights stay beside the optimizer's shards.",
              "Linen modules, or gradient accumulation."};
    case FindingId::unexpected_all_gather:
      return {"More is gathered than expected; of rules: activations over a batch axis, because two batch rules disagree.",
              "The same axes in both rules."};
    case FindingId::unexpected_all_reduce:
      return {"More is reduced than expected; of rules: activations over an axis that splits no features.",
              "Take the axis out of that rule."};
    case FindingId::unexpected_all_to_all:
      return {"More is exchanged than expected.", ""};
    case FindingId::unexpected_collective_permute:
      return {"More is sent along rings than expected.", ""};
    case FindingId::all_reduce_where_reduce_scatter_suffices:
      return {"Sums stay whole on every device where a part would do, for twice the traffic.",
              "['activation_embed', ['tensor']]."};
    case FindingId::less_traffic_than_expected:
      return {"Less is moved than expected.", ""};
    case FindingId::other_arguments:
      return {"The program holds other parameters than the plan: another model, optimizer, or layout of its weights.",
              "The arguments that the program was compiled with."};
    case FindingId::groups_match_no_axes:
      return {"Device groups that are no set of mesh axes; usually the wrong mesh.", "The mesh of the program."};
    case FindingId::rematerialized_all_gather:
      return {"Memory is short: the compiler gathers weights once more rather than keep what was gathered.",
              "A smaller batch, a remat_policy that saves less, or optimizer_memory_host_offload=True."};
    case FindingId::dense_ragged_dot:
      return {"More than half of a step's arithmetic is a dense ragged_dot's: rows times experts that no token chose.",
              "A larger expert axis, or the dropping path."};
    case FindingId::collectives_take_most:
      return {"More than half of a step waits for collectives.", ""};
    case FindingId::batch_beyond_published:
      return {"More tokens a step than any published run trained with.", "A smaller batch."};
    case FindingId::mfu_beyond_published:
      return {"A better utilization than has been published for the machine and kind of model.", ""};
    case FindingId::memory_under_flags:
      return {"The run was given no XLA flags; under those that its seconds assume and its command sets the program writes "
              "other buffers.",
              "--xla-flags with them, or none."};
    case FindingId::memory_budget_exceeded:
      return {"XLA:GPU's budget for temporaries is exceeded: collectives become synchronous, weights are gathered again.",
              "A smaller batch, or a larger memory fraction."};
    case FindingId::host_values_counted:
      return {"XLA:GPU counts what remat_policy moves to the host as if the device held it, and computes again what it can.",
              "A remat_policy that moves nothing to the host."};
    case FindingId::combined_weights_exposed:
      return {"XLA's flags combine the weights of a layer into one collective, which nothing can hide.",
              "Leave the combine thresholds out."};
    case FindingId::collective_matmul:
      return {"XLA:TPU's default: products beside gathers become loops of permutes. Collectives, memory and seconds are "
              "those of a program without.",
              "xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000 among the flags."};
    case FindingId::gathers_expected_again:
      return {"So close to the memory's limit, weights and activations may be gathered twice in the backward pass.",
              "A smaller batch."};
    case FindingId::attention_in_small_blocks:
      return {"Splash attention runs in MaxText's own blocks of 512; larger ones, and one kernel for all gradients, take "
              "less.",
              "sa_block_* and sa_use_fused_bwd_kernel."};
    case FindingId::activations_replicated:
      return {"A rule leaves a mesh axis out of activations that nothing else splits over it: every device of the axis "
              "computes and keeps the same.",
              "Add the axis to the rule."};
    case FindingId::axis_ignored:
      return {"A flag sets the size of an axis that the rules don't have: MaxText drops it silently.",
              "Leave the flag out."};
    case FindingId::context_lost_in_explicit_mode:
      return {"DeepSeek in explicit mode loses the context axis on its MLP's hidden state.",
              "shard_mode=auto, or the context axis first."};
    case FindingId::custom_mesh_ignored:
      return {"MaxText reads custom_mesh with several slices, or where axes may be split; here it doesn't.",
              "allow_split_physical_axes=True."};
    case FindingId::places_ignored:
      return {"A word says where an activation is kept, which MaxText reads with remat_policy=custom alone.",
              "remat_policy=custom, or leave the word out."};
    case FindingId::custom_rules_drop_arguments:
      return {"custom_mesh_and_rule replaces the rules of the command line.", "Put the rules into the set."};
    case FindingId::custom_rules_drop_model_rules:
      return {"custom_mesh_and_rule replaces the model's own rules.", "Copy them into the set."};
    case FindingId::explicit_pipeline:
      return {"MaxText's pipeline does not trace in explicit mode with today's JAX; counted is the repaired program.",
              "shard_mode=auto."};
    case FindingId::quantized_experts_need_linen:
      return {"MaxText's quantized einsums of the dropping path are Linen modules, which NNX can't call: no start.",
              "enable_nnx=False pure_nnx=False pure_nnx_decoder=False, as printed commands say, or "
              "use_qwix_quantization=True."};
    case FindingId::offloaded_parameters_come_back:
      return {"parameter_memory_host_offload: MaxText brings all parameters to the device before the forward pass, so that "
              "the copies take time and spare no memory.",
              "parameter_memory_host_offload=false."};
    case FindingId::mixed_precision_needs_linen:
      return {"quantization=intmp looks layers up among Linen modules, and NNX has none: no start.",
              "enable_nnx=False pure_nnx=False pure_nnx_decoder=False, as printed commands say."};
    case FindingId::mixed_precision_names_nothing:
      return {"quant_cfg_path names modules that a training run hasn't: all products of its layers are one module's.",
              "__default__, or decoder/.*layers.*."};
    case FindingId::transformer_engine_unrecorded:
      return {"Transformer Engine's products are counted as its source says; no program with them is recorded.",
              "use_qwix_quantization=true quantization=fp8_gpu, which is."};
    case FindingId::expert_rows_returned_whole:
      return {"The sparse experts return whole rows where the rules say that their features are split: no start.",
              "sparse_matmul=False, or an activation_embed without the axis."};
    case FindingId::logits_sequence_gathered:
      return {"Vocabulary tiling with a batch-sequence rule that lacks the context axis gathers the logits' sequence.",
              "Add the axis."};
    case FindingId::mesh_does_not_fit_torus:
      return {"An axis is not a product of whole torus dims: MaxText refuses the mesh at start-up.",
              "allow_split_physical_axes=True."};
    case FindingId::rule_axis_unknown:
      return {"A rule names a mesh axis that nobody has: it counts as size 1.", "The nearest mesh axis."};
    case FindingId::rule_name_unknown:
      return {"A rule names a logical axis that no tensor has: the rule does nothing.", "The nearest logical axis."};
    case FindingId::rule_unreachable:
      return {"An earlier rule of the same name always applies first.", "Put the longer list first."};
    case FindingId::activations_resharded:
      return {"Activations lie split over an axis along one dim and are wanted along another, whose rule leaves the axis "
              "out or comes too late: they are exchanged.",
              "Add the axis to that rule, or put it first."};
    case FindingId::slower_than_baseline:
      return {"A configuration takes at least 5% longer than in the baseline, and no other finding fails the check there.",
              ""};
    case FindingId::refused_since_baseline:
      return {"A configuration that the baseline has is one that MaxText refuses now.", ""};
    case FindingId::indivisible_dim:
      return {"A dim that its axes don't divide.", "Another mesh or batch."};
    case FindingId::memory_exceeded:
      return {"The step needs more memory than the device has.",
              "More devices, a smaller per_device_batch_size, or a remat_policy that saves less."};
    case FindingId::refused:
      return {"MaxText refuses this configuration, or computes it wrongly.", ""};
  }
  throw InternalError("unknown FindingId");
}

}  // namespace shardplan
