#include <fmt/format.h>

#include <arguments/start_checks.hpp>
#include <arguments/words/argument_values.hpp>
#include <rules/sequence_axis.hpp>
#include <shardplan/error.hpp>
#include <variant>

namespace shardplan {
namespace {

bool exchanges_sequence(const Configuration& c) {
  return c.compiler.kernels.has_tokamax_splash && c.config.context_parallel_strategy != ContextStrategy::all_gather;
}

// configs/types.py, TPU ring, Ulysses and USP attention.
bool odd_reduction_steps(double given, const Configuration& c) {
  return exchanges_sequence(c) && given != 0 && given != 3;
}

// Likewise: the ring's kernel takes an indexer's mask without a reduction alone.
bool reduces_masked_ring(double given, const Configuration& c) {
  return exchanges_sequence(c) && c.model.use_indexer && given != 0;
}

// configs/types.py refuses stripes on TPUs, where a split sequence is balanced at all; on GPUs auto has them for a packed
// ring (utils/train_utils.py), and Transformer Engine's other orders of a sequence are not modelled.
bool deals_other_stripes(const std::string& given, const Configuration& c) {
  const bool reorders = c.config.context_parallel_load_balance && c.mesh.size_of(sequence_axis(c.rules)) > 1;
  const bool packed_ring = c.config.attention == AttentionKernel::cudnn_flash_te && c.config.packing &&
                           c.config.context_parallel_strategy == ContextStrategy::ring;
  return given == "striped" && reorders && !packed_ring;
}

// configs/types.py, _validate_usp_context_parallelism.
bool megacore_under_usp(bool given, const Configuration& c) {
  return given && c.config.context_parallel_strategy == ContextStrategy::usp;
}

// configs/types.py, the checks of num_experts > 1.
bool balances_without_loss(double given, const Configuration& c) {
  return given > 0 && c.model.has_experts() && c.model.routed_bias && !c.model.decoder_block.routed_bias_only_picks;
}

// configs/types.py, the checks of ring, Ulysses and USP attention; Transformer Engine's kernels draw scores themselves,
// which is not modelled. Elsewhere a rate changes neither counts nor memory (compiled: llama2-7b): a mask has a sequence's
// features, not its tokens.
bool drops_in_attention(double given, const Configuration& c) {
  return given > 0 && (c.config.context_parallel_strategy != ContextStrategy::all_gather ||
                       c.config.attention == AttentionKernel::cudnn_flash_te);
}

// configs/types.py: only use_jax_splash, which is not modelled, has the layout.
bool forces_layout(bool given, const Configuration&) { return given; }

// configs/types.py: the elastic iterator can't pack.
bool elastic_and_packed(bool given, const Configuration& c) { return given && c.config.packing; }

// configs/types.py: only use_indexer has the tensor; saving it is not modelled.
bool saves_thresholds(const std::string& given, const Configuration&) { return given != "remat"; }

// configs/types.py: only qwen3_next and qwen3_5 rotate a part.
bool rotates_a_part(double given, const Configuration& c) {
  return given != 1 && !c.model.decoder_block.gated_attention;
}

// Inside the experts' shard_map all experts' weights would meet the rows of one device's (layers/moe.py).
bool splits_experts_twice(bool given, const Configuration& c) {
  return given && c.mesh.size_of(AxisRole::expert) > 1;
}

// layers/pipeline.py and decoders.py: what only pipelines read.
bool is_another_pipeline(bool given, const Configuration& c) {
  return given && pipeline_stages(c.mesh) > 1;
}
bool is_a_pipeline_without(bool given, const Configuration& c) {
  return !given && pipeline_stages(c.mesh) > 1;
}

// models/deepseek_batchsplit.py alone reads it.
bool merges_gates(bool given, const Configuration& c) {
  return given && c.model.use_batch_split_schedule;
}

bool lacks_tokamax(bool given, const Configuration& c) {
  return given && !c.compiler.kernels.has_megablox;
}

// layers/nnx_decoders.py: no two layers of the decoder are alike.
bool scans_unlike_layers(bool given, const Configuration& c) {
  return given && c.model.decoder_block.unscanned;
}

// trainers/pre_train/train.py: the dense warm-up, MaxText's default, computes no loss but the indexer's own. Compiled, such
// a step multiplies and moves nothing. Costed is the other one, which the printed commands ask for.
bool trains_no_model(bool given, const Configuration& c) {
  return c.model.use_indexer && !given;
}

// shardplan takes it from the rules. So does MaxText where a custom set replaces them (configs/types.py, infer_cp_axes),
// under which a copy of base.yml may say base.yml's axis.
bool splits_sequence_elsewhere(const std::string& given, const Configuration& c) {
  if (c.rules.custom && given == "context") return false;
  return given != canonical(sequence_axis(c.rules));
}

/// Of kernels that have their scores in float32 whatever these words say (layers/attention_op.py: qk_product and
/// apply_attention_dot alone read them).
bool widens_kept_scores(bool given, const Configuration& c) {
  return given && c.config.attention == AttentionKernel::dot_product;
}

// Products of bfloat16 take one pass whatever matmul_precision says, and a fused activation is computed in float32 anyway:
// the same programs (compiled: llama2-7b on v5p). Not those of float32, nor the einsums over experts, whose results wait.
bool takes_more_passes(const std::string& given, const Configuration& c) {
  return given != "default" && c.config.dtype == DType::f32;
}
bool widens_dropped_experts(bool given, const Configuration& c) {
  return given && c.config.moe_path == MoePath::dropping;
}

// configs/types.py; a search has the switch on where nobody says otherwise.
bool needs_switched_off_tokamax(bool given, const Configuration& c) {
  return !given && needs_tokamax(c.config, c.compiler.kernels, c.model);
}

/// By what the key's values are.
using Check = std::variant<bool (*)(bool given, const Configuration&), bool (*)(double given, const Configuration&),
                           bool (*)(const std::string& given, const Configuration&)>;

/// What a check looks at: the model and the settings, or what a search chooses, too (mesh, rules, path, kernel, machine).
enum class Of : std::uint8_t { settings, choices };

struct StartCheck {
  const char* key;
  Check is_broken;
  const char* reason;
  Of of = Of::choices;
};

constexpr const char* scores_are_kept =
    "scores in float32 are not modelled with attention=dot_product, which holds them in memory";

constexpr StartCheck checks[] = {
    {"context_sharding", splits_sequence_elsewhere, "shardplan models the first axis of rule activation_length"},
    {"dq_reduction_steps", odd_reduction_steps, "context parallelism on TPUs takes 0 or 3"},
    {"dq_reduction_steps", reduces_masked_ring, "a ring with an indexer's mask takes 0"},
    {"context_parallel_reorder_strategy", deals_other_stripes,
     "leave it to auto, which takes stripes where Transformer Engine packs a ring"},
    {"dropout_rate", drops_in_attention,
     "with context_parallel_strategy=ring, ulysses or usp MaxText takes none, and attention=cudnn_flash_te's is not "
     "modelled: leave it out, or set context_parallel_strategy=all_gather and another kernel"},
    {"sa_bwd_dkv_megacore", megacore_under_usp, "context_parallel_strategy=usp does not know it", Of::settings},
    {"routed_bias_update_rate", balances_without_loss,
     "only DeepSeek's decoder balances its load without a loss", Of::settings},
    {"scan_layers", scans_unlike_layers,
     "MaxText builds this decoder's layers one by one: set scan_layers=false", Of::settings},
    {"force_q_layout", forces_layout, "it needs use_jax_splash, which shardplan does not model", Of::settings},
    {"scan_pipeline_iterations", is_a_pipeline_without, "shardplan models a pipeline's iterations as a loop"},
    {"set_remat_policy_on_pipeline_iterations", is_a_pipeline_without,
     "shardplan models pipelines whose iterations are recomputed as a whole"},
    {"set_remat_policy_on_layers_per_stage", is_another_pipeline,
     "shardplan models pipelines whose iterations are recomputed, not their stages' layers"},
    {"scan_layers_per_stage", is_another_pipeline, "shardplan models a stage's layers written out"},
    {"merge_gating_gmm", merges_gates, "shardplan models batch-split layers with two kernels", Of::settings},
    {"shard_exp_on_fsdp", splits_experts_twice, "shardplan models it without the expert axis"},
    {"use_2d_fsdp_sharding", splits_experts_twice, "shardplan models it without the expert axis"},
    {"use_tokamax_gmm", lacks_tokamax, "shardplan models tokamax's grouped matmul on TPUs"},
    {"grain_use_elastic_iterator", elastic_and_packed, "it needs packing=false"},
    {"float32_qk_product", widens_kept_scores, scores_are_kept},
    {"float32_logits", widens_kept_scores, scores_are_kept},
    {"matmul_precision", takes_more_passes, "products of float32 in other than one pass are not modelled", Of::settings},
    {"activations_in_float32", widens_dropped_experts,
     "experts' activations in float32 are not modelled with sparse_matmul=false"},
    {"use_tokamax_splash", needs_switched_off_tokamax,
     "attention=flash with an indexer, and context_parallel_strategy=ring, ulysses or usp on TPU, need it"},
    {"indexer_cutoff_threshold", saves_thresholds, "shardplan does not model saved thresholds of an indexer", Of::settings},
    {"indexer_sparse_training", trains_no_model,
     "without it MaxText computes no loss of a model with an indexer", Of::settings},
    {"partial_rotary_factor", rotates_a_part,
     "only the decoders qwen3_next and qwen3_5 rotate a part of a head", Of::settings}};

/// The argument's value, as its check wants it.
struct Bound {
  const GivenArgument& given;
  using Broken = std::function<bool(const Configuration&)>;

  Broken operator()(bool (*check)(bool, const Configuration&)) const {
    return [check, on = parse_flag(given.text, given.place)](const Configuration& c) { return check(on, c); };
  }
  Broken operator()(bool (*check)(double, const Configuration&)) const {
    return [check, number = parse_number(given.text, given.place)](const Configuration& c) { return check(number, c); };
  }
  Broken operator()(bool (*check)(const std::string&, const Configuration&)) const {
    return [check, word = canonical(given.text)](const Configuration& c) { return check(word, c); };
  }
};

bool is_said(const GivenArgument* given) { return given && !canonical(given->text).empty(); }

}  // namespace

std::vector<StartCondition> start_conditions(const GivenArguments& arguments) {
  std::vector<StartCondition> conditions;
  for (const StartCheck& check : checks)
    if (const auto* given = arguments.find(check.key); is_said(given))
      conditions.push_back({given->place, check.reason, std::visit(Bound{*given}, check.is_broken)});
  return conditions;
}

void check_settings(const GivenArguments& arguments, const Model& model, const TrainConfig& config) {
  Configuration of_settings;
  of_settings.model = model;
  of_settings.config = config;
  for (const StartCheck& check : checks)
    if (const auto* given = arguments.find(check.key); check.of == Of::settings && is_said(given))
      if (std::visit(Bound{*given}, check.is_broken)(of_settings))
        throw InputError(fmt::format("{}: {}", given->place, check.reason));
}

void check_start(const Configuration& configuration) {
  if (const StartCondition* broken = broken_condition(configuration))
    throw InputError(fmt::format("{}: {}", broken->place, broken->reason));
}

}  // namespace shardplan
