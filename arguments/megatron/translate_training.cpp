#include <algorithm>
#include <arguments/megatron/translation.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Sequences that a group of data takes at once.
void translate_batch(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  const std::int64_t sequences = global_batch(c), passes = c.config.gradient_accumulation_steps;
  const std::int64_t microbatches = groups.pipeline > 1 ? c.config.num_pipeline_microbatches : 1;
  to.flag("--seq-length", c.config.max_target_length);
  to.flag("--global-batch-size", sequences * passes);
  if (sequences % (groups.data * microbatches) == 0)
    return to.flag("--micro-batch-size", sequences / groups.data / microbatches);
  to.missing(fmt::format("{} sequences in {} microbatches over {} shards", sequences, microbatches, groups.data),
             "no whole number of sequences each; --micro-batch-size is yours to choose");
}

bool saves(const TrainConfig& config, std::string_view name) {
  const auto found = config.saved.find(std::string(name));
  return found != config.saved.end() && found->second == SavePlace::device;
}

/// All products but attention's: Megatron-LM computes attention, norms and activations again where it is told to.
bool saves_products(const TrainConfig& config) {
  constexpr std::string_view products[] = {"query_proj", "key_proj", "value_proj", "out_proj",
                                           "mlpwi_0",    "mlpwi_1",  "mlpwo"};
  return std::all_of(std::begin(products), std::end(products),
                     [&](std::string_view name) { return saves(config, name); });
}

void translate_recomputation(const Configuration& c, Translation& to) {
  const std::string policy = "remat_policy=" + c.config.remat_policy;
  if (saves_products(c.config)) {
    to.flag("--recompute-granularity", "selective");
    if (saves(c.config, "context")) to.flag("--recompute-modules", "layernorm");
    else to.flag("--recompute-modules", "core_attn", "layernorm");
    return to.missing(policy,
                      "nearest: selective; activations of feed-forwards are kept there and computed again here");
  }
  to.flag("--recompute-granularity", "full");
  to.flag("--recompute-method", "uniform");
  to.flag("--recompute-num-layers", 1);
  if (!c.config.saved.empty())
    to.missing(policy, "nothing between full and selective recomputation saves the same; full is said");
}

std::string_view optimizer_of(OptimizerType type) {
  switch (type) {
    case OptimizerType::adamw:
    case OptimizerType::adam_pax:
      return "adam";
    case OptimizerType::sgd:
      return "sgd";
    case OptimizerType::muon:
      return "muon";
  }
  throw InternalError("unknown OptimizerType");
}

/// Its moments in bfloat16; SGD has none.
bool has_small_moments(const TrainConfig& config) {
  return config.mu_dtype == DType::bf16 && config.weight_dtype == DType::f32 && config.opt_type != OptimizerType::sgd;
}

/// Moments that are not float32 on the device are the precision-aware optimizer's: Adam's, and a distributed one's.
void translate_moments(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  const bool small = has_small_moments(c.config), on_host = c.config.optimizer_memory_host_offload;
  if (!small && !on_host) return;
  if (!is_adam(c.config.opt_type)) {
    const std::string why = fmt::format("--use-precision-aware-optimizer is adam's, not {}'s", name_of(c.config.opt_type));
    if (small) to.missing("mu_dtype=bfloat16", why);
    if (on_host) to.missing("optimizer_memory_host_offload=true", why);
    return;
  }
  to.flag("--use-precision-aware-optimizer");
  if (small) to.flag("--exp-avg-dtype", "bf16");
  if (on_host) to.flag("--optimizer-cpu-offload");
  if (fully_sharded(c, groups) || c.config.shard_optimizer_over_data) return;
  to.flag("--use-distributed-optimizer");
  const std::int64_t replicas = groups.data * groups.context;
  if (replicas > 1)
    to.missing(fmt::format("{} copies of the optimizer's state", replicas),
               "beside --use-precision-aware-optimizer Megatron-LM wants --use-distributed-optimizer, which splits it");
}

/// Emerging optimizers refuse float16.
void translate_compute_type(const TrainConfig& config, Translation& to) {
  const bool muon = config.opt_type == OptimizerType::muon;
  if (config.dtype == DType::bf16) return to.flag("--bf16");
  if (config.dtype != DType::f16) return;
  if (!muon) return to.flag("--fp16");
  to.flag("--bf16");
  to.missing("dtype=float16 under opt_type=muon", "it is refused there; bf16 is said");
}

void translate_types(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  translate_compute_type(c.config, to);
  translate_moments(c, groups, to);
  if (c.config.weight_dtype != DType::f32)
    to.missing(fmt::format("weight_dtype={}", name_of(c.config.weight_dtype)),
               "Megatron-LM keeps main weights in float32");
  if (c.config.quantization != Quantization::none)
    to.missing(fmt::format("quantization={}", name_of(c.config.quantization)),
               "its recipes are Transformer Engine's (--fp8-format, --fp8-recipe)");
}

}  // namespace

void translate_training(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  translate_batch(c, groups, to);
  translate_recomputation(c, to);
  to.flag("--optimizer", optimizer_of(c.config.opt_type));
  translate_types(c, groups, to);
  if (c.config.num_vocab_tiling > 1)
    to.missing(fmt::format("num_vocab_tiling={}", c.config.num_vocab_tiling), "the logits are computed whole");
}

}  // namespace shardplan
