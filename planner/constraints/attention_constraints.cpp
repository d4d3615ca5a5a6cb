// What MaxText's attention kernels refuse: each check names its place in MaxText.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/constraints/constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <rules/sequence_axis.hpp>

namespace shardplan {
namespace {

Infeasible refused(ConstraintId constraint, std::string message) { return {constraint, std::move(message), 1, 0}; }

int sequence_shards(const Configuration& c) { return c.mesh.size_of(sequence_axis(c.rules)); }

bool has_windows(const Model& model) { return model.attention_pattern.locals_per_period > 0; }

bool is_transformer_engine(const Configuration& c) { return c.config.attention == AttentionKernel::cudnn_flash_te; }

/// The one context parallelism under which Transformer Engine packs.
bool is_balanced_ring(const TrainConfig& config) {
  return config.context_parallel_strategy == ContextStrategy::ring && config.context_parallel_load_balance;
}

std::vector<std::string_view> names_of(const AttentionKernelSet& kernels) {
  using enum AttentionKernel;
  std::vector<std::string_view> names;
  for (const AttentionKernel kernel : {autoselected, dot_product, flash, cudnn_flash_te, cudnn_flash_jax})
    if (kernels.has(kernel)) names.push_back(name_of(kernel));
  return names;
}

// layers/attention_op.py, cudnn_flash_attention and cudnn_jax_flash_attention: they import what only GPUs have.
Violation kernel_exists(const Configuration& c) {
  const AttentionKernel kernel = c.config.attention;
  if (c.compiler.kernels.attention_kernels.has(kernel)) return std::nullopt;
  return refused(ConstraintId::attention_kernel,
                 fmt::format("attention={} doesn't run on {}; there are {}", name_of(kernel), c.hardware.name,
                             fmt::join(names_of(c.compiler.kernels.attention_kernels), ", ")));
}

// layers/attention_op.py, validate_gpu_flash_attention.
Violation kernel_knows_sinks(const Configuration& c) {
  const Kernels& kernels = c.compiler.kernels;
  if (!c.model.attention_sink || kernels.sink_kernels.has(c.config.attention)) return std::nullopt;
  return refused(ConstraintId::attention_kernel,
                 fmt::format("{} has attention sinks, which attention={} does not know on {}: set attention=dot_product",
                             c.model.name, name_of(c.config.attention), c.hardware.name));
}

// configs/types.py, the checks of use_indexer and of the decoder block deepseek4.
Violation kernel_takes_masks(const Configuration& c) {
  const AttentionKernel kernel = c.config.attention;
  const bool splash = kernel == AttentionKernel::flash && c.compiler.kernels.has_tokamax_splash;
  if (!c.model.masks_keys() || kernel == AttentionKernel::dot_product || splash) return std::nullopt;
  return refused(ConstraintId::attention_kernel,
                 fmt::format("{} has an indexer, whose mask attention={} does not take on {}: set {}", c.model.name,
                             name_of(kernel), c.hardware.name,
                             c.compiler.kernels.has_tokamax_splash ? "attention=flash use_tokamax_splash=true"
                                                                   : "attention=dot_product"));
}

// Runs of tokens are pooled across the shards of a sequence; what that moves has not been compared with a program.
Violation pools_whole_sequences(const Configuration& c) {
  const int shards = sequence_shards(c);
  if (c.model.compress_ratios.empty() || shards == 1) return std::nullopt;
  return Infeasible{ConstraintId::attention_kernel,
                    fmt::format("{} has compressed attention, which shardplan does not model over a sequence that {}={} "
                                "splits",
                                c.model.name, sequence_axis(c.rules), shards),
                    1, shards};
}

// configs/types.py, the checks of Ulysses and USP attention.
Violation exchanged_sequence_is_unmasked(const Configuration& c) {
  const ContextStrategy strategy = c.config.context_parallel_strategy;
  const bool exchanges = strategy == ContextStrategy::ulysses || strategy == ContextStrategy::usp;
  if (!c.model.masks_keys() || !exchanges) return std::nullopt;
  return refused(ConstraintId::attention_kernel,
                 fmt::format("{} has an indexer, whose mask context_parallel_strategy={} does not take", c.model.name,
                             name_of(strategy)));
}

// configs/types.py, set_derived_and_validate_values: Transformer Engine's packed layout has a fixed number of documents.
Violation segments_are_counted(const Configuration& c) {
  if (!is_transformer_engine(c) || !c.config.packing || c.config.max_segments_per_seq > 0) return std::nullopt;
  return refused(ConstraintId::packing,
                 "attention=cudnn_flash_te with packing needs max_segments_per_seq: set max_segments_per_seq=32, say, or "
                 "packing=false");
}

// jax/_src/cudnn/fused_attention_stablehlo.py, _check_qkv_bias_mask_spec: "Sharding on sequence dim is not allowed".
Violation kernel_splits_sequences(const Configuration& c) {
  const int shards = sequence_shards(c);
  if (c.config.attention != AttentionKernel::cudnn_flash_jax || shards == 1) return std::nullopt;
  return Infeasible{ConstraintId::attention_kernel,
                    fmt::format("attention=cudnn_flash_jax takes whole sequences, and {}={} splits them: set "
                                "attention=cudnn_flash_te", sequence_axis(c.rules), shards),
                    1, shards};
}

// layers/attention_op.py, cudnn_flash_attention: the branch of context parallelism without packing.
Violation windows_under_context(const Configuration& c) {
  const int shards = sequence_shards(c);
  if (!is_transformer_engine(c) || shards == 1 || !has_windows(c.model)) return std::nullopt;
  if (c.config.packing && is_balanced_ring(c.config)) return std::nullopt;
  return Infeasible{ConstraintId::attention_kernel,
                    fmt::format("attention=cudnn_flash_te splits the sequence of layers with a sliding window only under "
                                "context_parallel_strategy=ring with load balance and packing, and {}={}",
                                sequence_axis(c.rules), shards),
                    1, shards};
}

/// configs/types.py, use_qk_clip; layers/attention_op.py: of flash kernels tokamax's alone return their largest scores, and
/// GPUs' none do. Layers that say no scores would be trained without the clip.
Violation scores_are_recorded(const Configuration& c) {
  if (!c.config.use_qk_clip) return std::nullopt;
  const AttentionKernel kernel = c.config.attention;
  const bool on_tpus = c.compiler.kernels.has_tokamax_splash;
  if (c.model.attention_type != AttentionType::mla || c.model.use_batch_split_schedule)
    return refused(ConstraintId::attention_kernel,
                   fmt::format("use_qk_clip clips latent attention's projections, which {}: leave it out",
                               c.model.use_batch_split_schedule ? "batch-split layers don't record the scores of"
                                                                : c.model.name + " doesn't have"));
  if (c.config.context_parallel_strategy != ContextStrategy::all_gather)
    return refused(ConstraintId::attention_kernel,
                   fmt::format("context_parallel_strategy={} does not record the scores that use_qk_clip reads: set "
                               "all_gather",
                               name_of(c.config.context_parallel_strategy)));
  if (on_tpus && runs_splash(c.config, c.compiler) && !c.config.use_tokamax_splash)
    return refused(ConstraintId::attention_kernel,
                   "jax's splash attention does not record the scores that use_qk_clip reads: set use_tokamax_splash=true");
  if (!on_tpus && kernel != AttentionKernel::dot_product)
    return refused(ConstraintId::attention_kernel,
                   fmt::format("attention={} does not record the scores that use_qk_clip reads on {}: set "
                               "attention=dot_product",
                               name_of(kernel), c.hardware.name));
  return std::nullopt;
}

// layers/attention_op.py, tpu_flash_attention: the kernel's blocks of queries, no longer than the whole sequence, have to
// divide what each device has of it (jax splash_attention_mask_info.py: q_block_size should divide q_seq_len_per_shard).
// Rings clamp them to a device's share.
Violation blocks_divide_shards(const Configuration& c) {
  const std::int64_t shards = sequence_shards(c), length = c.config.max_target_length;
  if (!runs_splash(c.config, c.compiler) || length % shards != 0 ||
      (shards > 1 && c.config.context_parallel_strategy != ContextStrategy::all_gather))
    return std::nullopt;
  for (const std::int64_t block : {c.config.sa_block_q, c.config.sa_block_q_dkv, c.config.sa_block_q_dq}) {
    const std::int64_t rows = std::min(block, length), own = length / shards;
    if (own % rows == 0) continue;
    return Infeasible{ConstraintId::attention_kernel,
                      fmt::format("a device has {} of {} positions, which the attention kernel's blocks of {} don't divide: "
                                  "choose a max_target_length that is a multiple of {}, fewer devices along it, or "
                                  "sa_block_q, sa_block_q_dkv and sa_block_q_dq that do",
                                  own, length, rows, block * shards),
                      rows, own};
  }
  return std::nullopt;
}

/// A setting of the splash kernel: how many keys a block has, and how many of them are multiplied at a time.
struct KeyBlocks {
  std::int64_t block, multiplied;
  std::string_view keys;
};

std::vector<KeyBlocks> key_blocks(const TrainConfig& config) {
  std::vector<KeyBlocks> all = {
      {config.sa_block_kv, config.sa_block_kv_compute, "sa_block_kv and sa_block_kv_compute"},
      {config.sa_block_kv_dkv, config.sa_block_kv_dkv_compute, "sa_block_kv_dkv and sa_block_kv_dkv_compute"}};
  if (!config.fuses_attention_gradients())
    all.push_back({config.sa_block_kv_dq, config.sa_block_kv_dq, "sa_block_kv_dq"});
  return all;
}

// jax splash_attention_kernel.py, _splash_attention_forward and _splash_attention_bwd_{dq,dkv}: bkv must be a multiple of
// bkv_compute, and that of NUM_LANES; splash_attention_mask_info.py: kv_block_size should divide kv_seq_len. MaxText's
// own kernels ask for the same.
Violation blocks_of_keys_divide(const Configuration& c) {
  constexpr std::int64_t lanes = 128;
  const std::int64_t shards = sequence_shards(c), length = c.config.max_target_length;
  if (!runs_splash(c.config, c.compiler) || length % shards != 0) return std::nullopt;
  const std::int64_t keys_at_once =
      c.config.context_parallel_strategy == ContextStrategy::ring ? length / shards : length;
  const auto broken = [&](std::int64_t needed, std::int64_t have, const std::string& why, std::string_view keys) {
    return Infeasible{ConstraintId::attention_kernel,
                      fmt::format("the attention kernel {}: choose another max_target_length or other {}", why, keys),
                      needed, have};
  };
  for (const auto& [block, multiplied, keys] : key_blocks(c.config)) {
    const std::int64_t whole = std::min(block, keys_at_once), part = std::min(multiplied, keys_at_once);
    if (part % lanes != 0)
      return broken(lanes, part, fmt::format("multiplies {} keys at a time, which is no multiple of {}", part, lanes),
                    keys);
    if (whole % part != 0)
      return broken(part, whole, fmt::format("multiplies {} keys at a time, which its blocks of {} are no multiple of",
                                             part, whole), keys);
    if (keys_at_once % whole != 0)
      return broken(whole, keys_at_once, fmt::format("has blocks of {} keys, which don't divide {}", whole, keys_at_once),
                    keys);
  }
  return std::nullopt;
}

// kernels/tokamax_splash_attention/splash_attention_kernel.py, SplashConfig: "only 3 or None are supported", which stands
// for what is not above 0 (layers/attention_op.py). No other kernel reads it.
Violation sums_three_or_all(const Configuration& c) {
  const std::int64_t asked = c.config.dq_reduction_steps;
  const bool is_read = runs_splash(c.config, c.compiler) && c.config.runs_tokamax_splash();
  if (!is_read || asked <= 0 || asked == 3) return std::nullopt;
  return Infeasible{ConstraintId::attention_kernel,
                    fmt::format("dq_reduction_steps={} must be 0 or 3 where tokamax's kernel runs", asked), 3, asked};
}

bool reorders_in_stripes(const Configuration& c) {
  return is_transformer_engine(c) && c.config.packing && is_balanced_ring(c.config);
}

// utils/max_utils.py, reorder_sequence, which utils/train_utils.py puts around the data; Transformer Engine's of the
// same name asks for the same, except where it deals out stripes.
Violation balance_divides(const Configuration& c) {
  const std::int64_t shards = sequence_shards(c), length = c.config.max_target_length;
  if (shards == 1 || !c.config.context_parallel_load_balance || reorders_in_stripes(c)) return std::nullopt;
  const bool has_shards = length % shards == 0;  // otherwise that is what is wrong
  if (!has_shards || (shards % 2 == 0 && length % (2 * shards) == 0)) return std::nullopt;
  return Infeasible{ConstraintId::context_load_balance,
                    fmt::format("context_parallel_load_balance swaps chunks over an even number of devices whose double "
                                "divides the sequence, not {}={} of {} positions",
                                sequence_axis(c.rules), shards, length),
                    2 * shards, length};
}

}  // namespace

// layers/attention_op.py, cudnn_flash_attention, and utils/train_utils.py, setup_train_loop.
std::optional<Infeasible> packing_violation(const Configuration& c) {
  const int shards = sequence_shards(c);
  if (!is_transformer_engine(c) || !c.config.packing || shards == 1 || is_balanced_ring(c.config)) return std::nullopt;
  return Infeasible{ConstraintId::packing,
                    fmt::format("attention=cudnn_flash_te packs sequences that {}={} splits only under "
                                "context_parallel_strategy=ring with context_parallel_load_balance: set packing=false",
                                sequence_axis(c.rules), shards),
                    1, shards};
}

std::optional<Infeasible> attention_violation(const Configuration& configuration) {
  return first_violation_of(
      {kernel_exists, kernel_knows_sinks, kernel_takes_masks, pools_whole_sequences, exchanged_sequence_is_unmasked,
       scores_are_recorded,
       packing_violation, segments_are_counted, kernel_splits_sequences, windows_under_context, balance_divides,
       blocks_divide_shards,
       blocks_of_keys_divide, sums_three_or_all},
      configuration);
}

}  // namespace shardplan
