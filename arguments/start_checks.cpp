#include <fmt/format.h>

#include <arguments/start_checks.hpp>
#include <arguments/words/argument_values.hpp>
#include <rules/sequence_axis.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool is_on(const GivenArgument& given) { return canonical(given.text) == "true" || canonical(given.text) == "1"; }

double number_in(const GivenArgument& given) { return parse_number(given.text, given.place); }

bool exchanges_sequence(const Configuration& c) {
  return c.compiler.kernels.has_tokamax_splash && c.config.context_parallel_strategy != ContextStrategy::all_gather;
}

// configs/types.py, TPU ring, Ulysses and USP attention.
bool odd_reduction_steps(const GivenArgument& given, const Configuration& c) {
  const double steps = number_in(given);
  return exchanges_sequence(c) && steps != 0 && steps != 3;
}

// Likewise: the ring's kernel takes an indexer's mask without a reduction alone.
bool reduces_masked_ring(const GivenArgument& given, const Configuration& c) {
  return exchanges_sequence(c) && c.model.use_indexer && number_in(given) != 0;
}

// configs/types.py refuses stripes on TPUs, where a split sequence is balanced at all; on GPUs auto has them for a packed
// ring (utils/train_utils.py), and Transformer Engine's other orders of a sequence are not modelled.
bool deals_other_stripes(const GivenArgument& given, const Configuration& c) {
  const bool reorders = c.config.context_parallel_load_balance && c.mesh.size_of(sequence_axis(c.rules)) > 1;
  const bool packed_ring = c.config.attention == AttentionKernel::cudnn_flash_te && c.config.packing &&
                           c.config.context_parallel_strategy == ContextStrategy::ring;
  return canonical(given.text) == "striped" && reorders && !packed_ring;
}

// configs/types.py, _validate_usp_context_parallelism.
bool megacore_under_usp(const GivenArgument& given, const Configuration& c) {
  return is_on(given) && c.config.context_parallel_strategy == ContextStrategy::usp;
}

// configs/types.py, the checks of num_experts > 1.
bool balances_without_loss(const GivenArgument& given, const Configuration& c) {
  return number_in(given) > 0 && c.model.has_experts() && c.model.routed_bias &&
         !c.model.decoder_block.routed_bias_only_picks;
}

// configs/types.py, the checks of ring, Ulysses and USP attention; Transformer Engine's kernels draw scores themselves,
// which is not modelled. Elsewhere a rate changes neither counts nor memory (compiled: llama2-7b): a mask has a sequence's
// features, not its tokens.
bool drops_in_attention(const GivenArgument& given, const Configuration& c) {
  return number_in(given) > 0 && (c.config.context_parallel_strategy != ContextStrategy::all_gather ||
                                  c.config.attention == AttentionKernel::cudnn_flash_te);
}

// configs/types.py: a share.
bool is_no_rate(const GivenArgument& given, const Configuration&) { return number_in(given) < 0 || number_in(given) > 1; }

// configs/types.py: only use_jax_splash, which is not modelled, has the layout.
bool forces_layout(const GivenArgument& given, const Configuration&) { return is_on(given); }

// configs/types.py: the elastic iterator can't pack.
bool elastic_and_packed(const GivenArgument& given, const Configuration& c) { return is_on(given) && c.config.packing; }

// configs/types.py: only use_indexer has the tensor; saving it is not modelled.
bool saves_thresholds(const GivenArgument& given, const Configuration&) { return canonical(given.text) != "remat"; }

// configs/types.py: only qwen3_next and qwen3_5 rotate a part.
bool rotates_a_part(const GivenArgument& given, const Configuration& c) {
  return number_in(given) != 1 && !c.model.decoder_block.gated_attention;
}

// Inside the experts' shard_map all experts' weights would meet the rows of one device's (layers/moe.py).
bool splits_experts_twice(const GivenArgument& given, const Configuration& c) {
  return is_on(given) && c.mesh.size_of(AxisRole::expert) > 1;
}

// layers/pipeline.py and decoders.py: what only pipelines read.
bool is_another_pipeline(const GivenArgument& given, const Configuration& c) {
  return is_on(given) && pipeline_stages(c.mesh) > 1;
}
bool is_a_pipeline_without(const GivenArgument& given, const Configuration& c) {
  return !is_on(given) && pipeline_stages(c.mesh) > 1;
}

// models/deepseek_batchsplit.py alone reads it.
bool merges_gates(const GivenArgument& given, const Configuration& c) {
  return is_on(given) && c.model.use_batch_split_schedule;
}

bool lacks_tokamax(const GivenArgument& given, const Configuration& c) {
  return is_on(given) && !c.compiler.kernels.has_megablox;
}

// layers/nnx_decoders.py: no two layers of the decoder are alike.
bool scans_unlike_layers(const GivenArgument& given, const Configuration& c) {
  return is_on(given) && c.model.decoder_block.unscanned;
}

// trainers/pre_train/train.py: the dense warm-up, MaxText's default, computes no loss but the indexer's own. Compiled, such
// a step multiplies and moves nothing. Costed is the other one, which the printed commands ask for.
bool trains_no_model(const GivenArgument& given, const Configuration& c) {
  return c.model.use_indexer && !is_on(given);
}

// shardplan takes it from the rules. So does MaxText where a custom set replaces them (configs/types.py, infer_cp_axes),
// under which a copy of base.yml may say base.yml's axis.
bool splits_sequence_elsewhere(const GivenArgument& given, const Configuration& c) {
  if (c.rules.custom && canonical(given.text) == "context") return false;
  return canonical(given.text) != canonical(sequence_axis(c.rules));
}

struct StartCheck {
  const char* key;
  bool (*is_broken)(const GivenArgument& given, const Configuration& configuration);
  const char* reason;
};

constexpr StartCheck checks[] = {
    {"context_sharding", splits_sequence_elsewhere, "shardplan models the first axis of rule activation_length"},
    {"dq_reduction_steps", odd_reduction_steps, "context parallelism on TPUs takes 0 or 3"},
    {"dq_reduction_steps", reduces_masked_ring, "a ring with an indexer's mask takes 0"},
    {"context_parallel_reorder_strategy", deals_other_stripes, leave_order_to_auto},
    {"dropout_rate", is_no_rate, "must be from 0 to 1"},
    {"dropout_rate", drops_in_attention,
     "with context_parallel_strategy=ring, ulysses or usp MaxText takes none, and attention=cudnn_flash_te's is not "
     "modelled: leave it out, or set context_parallel_strategy=all_gather and another kernel"},
    {"sa_bwd_dkv_megacore", megacore_under_usp, "context_parallel_strategy=usp does not know it"},
    {"routed_bias_update_rate", balances_without_loss, "only DeepSeek's decoder balances its load without a loss"},
    {"scan_layers", scans_unlike_layers, "MaxText builds this decoder's layers one by one: set scan_layers=false"},
    {"force_q_layout", forces_layout, "it needs use_jax_splash, which shardplan does not model"},
    {"scan_pipeline_iterations", is_a_pipeline_without, "shardplan models a pipeline's iterations as a loop"},
    {"set_remat_policy_on_pipeline_iterations", is_a_pipeline_without,
     "shardplan models pipelines whose iterations are recomputed as a whole"},
    {"set_remat_policy_on_layers_per_stage", is_another_pipeline,
     "shardplan models pipelines whose iterations are recomputed, not their stages' layers"},
    {"scan_layers_per_stage", is_another_pipeline, "shardplan models a stage's layers written out"},
    {"merge_gating_gmm", merges_gates, "shardplan models batch-split layers with two kernels"},
    {"shard_exp_on_fsdp", splits_experts_twice, "shardplan models it without the expert axis"},
    {"use_2d_fsdp_sharding", splits_experts_twice, "shardplan models it without the expert axis"},
    {"use_tokamax_gmm", lacks_tokamax, "shardplan models tokamax's grouped matmul on TPUs"},
    {"grain_use_elastic_iterator", elastic_and_packed, "it needs packing=false"},
    {"indexer_cutoff_threshold", saves_thresholds, "shardplan does not model saved thresholds of an indexer"},
    {"indexer_sparse_training", trains_no_model, "without it MaxText computes no loss of a model with an indexer"},
    {"partial_rotary_factor", rotates_a_part, "only the decoders qwen3_next and qwen3_5 rotate a part of a head"}};

}  // namespace

void check_start(const GivenArguments& arguments, const Configuration& configuration) {
  for (const auto& [key, is_broken, reason] : checks) {
    const auto* given = arguments.find(key);
    if (given && !canonical(given->text).empty() && is_broken(*given, configuration))
      throw InputError(fmt::format("{}: {}", given->place, reason));
  }
}

}  // namespace shardplan
