#pragma once
// One training run's settings: what MaxText's arguments say once defaults are filled in. Names and meanings are
// MaxText's (configs/base.yml); only settings that change the compiled program, or that MaxText checks when it starts,
// are here.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <shardplan/error.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct Compiler;

/// Where neither settings nor model give one; Switch Transformer's training value (Fedus et al. 2021, section 2.2).
inline constexpr double usual_capacity_factor = 1.25;

enum class DType : std::uint8_t { pred, s4, f4, s8, f8, bf16, f16, f32, s32, u32 };
/// An element's; XLA:TPU packs two of 4 into a byte.
constexpr std::int64_t bits_of(DType dtype) {
  switch (dtype) {
    case DType::s4:
    case DType::f4:
      return 4;
    case DType::pred:
    case DType::s8:
    case DType::f8:
      return 8;
    case DType::bf16:
    case DType::f16:
      return 16;
    case DType::f32:
    case DType::s32:
    case DType::u32:
      return 32;
  }
  throw InternalError("unknown DType");
}

/// Bytes an element; throws InternalError where it has half of one.
constexpr std::int64_t size_of(DType dtype) {
  const std::int64_t bits = bits_of(dtype);
  if (bits % 8 != 0) throw InternalError("half a byte has no size of its own");
  return bits / 8;
}

/// The bytes of as many elements of another type.
Bytes recast(Bytes bytes, DType from, DType to);
std::string_view name_of(DType dtype);  ///< "bfloat16"

enum class MoePath : std::uint8_t {
  none,      ///< no experts
  dropping,  ///< sparse_matmul=false, capacity_factor>0: einsums against a [batch, seq, experts, capacity] mask
  ragged,    ///< sparse_matmul=true: sort, ragged all-to-all, grouped matmul
  ring,      ///< sparse_matmul=true, use_ring_of_experts=true: all-gather tokens, grouped matmul, reduce-scatter
};

inline constexpr std::array all_moe_paths = {MoePath::none, MoePath::dropping, MoePath::ragged, MoePath::ring};

/// MaxText's `quantization` (configs/types.py, QuantizationType): how products with weights narrow their operands.
enum class Quantization : std::uint8_t {
  none,
  int4,
  int8,
  intmp,
  fp4,
  fp8,
  fp8_e4m3,
  fp8_e5m2,
  fp8_full,
  fp8_gpu,
  fp8_nanoo,
  nanoo_fp8,
  te_fp8_delayedscaling,
  te_fp8_currentscaling,
  te_mxfp8,
  te_nvfp4,
  te_nvfp4_no_rht,
};
/// NVIDIA's kernels, which narrow inside (MaxText's TransformerEngineQuantization).
constexpr bool runs_transformer_engine(Quantization quantization) {
  return quantization >= Quantization::te_fp8_delayedscaling && quantization <= Quantization::te_nvfp4_no_rht;
}
inline constexpr Quantization last_quantization = Quantization::te_nvfp4_no_rht;

/// Where the scale of narrowed numbers is from: MaxText's *_quantization_calibration_method.
struct Calibration {
  bool fixed = false;            ///< a constant; else measured on the numbers at hand
  std::string word = "absmax";   ///< as Qwix takes it: "fixed,-224,224"
  bool operator==(const Calibration&) const = default;
};

/// Of quantization=intmp the file of quant_cfg_path, as it takes effect on the products of layers.
struct MixedPrecision {
  std::string path;
  std::optional<int> weight_bits, activation_bits;  ///< empty: as they are
  std::vector<std::string> unmatched = {};          ///< names of the file that no module of a training run has
  bool operator==(const MixedPrecision&) const = default;
};

enum class OptimizerType : std::uint8_t { adamw, adam_pax, sgd, muon };
constexpr bool is_adam(OptimizerType type) { return type == OptimizerType::adamw || type == OptimizerType::adam_pax; }

/// MaxText's `attention`: the kernel of softmax(q·kT)·v.
enum class AttentionKernel : std::uint8_t { autoselected, dot_product, flash, cudnn_flash_te, cudnn_flash_jax };

/// How attention meets keys of other shards of the sequence (MaxText configs/types.py, context_parallel_strategy).
enum class ContextStrategy : std::uint8_t { all_gather, ring, ulysses, usp };

/// Which of MaxText's programs runs the step. Both run the same one but under shard_optimizer_over_data: the training
/// loop keeps the parameters in the optimizer's layout between steps and gathers them at the start of each;
/// train_compile hands them to the step whole and gathers the updated ones at its end (SHARDING.md 3.4).
enum class StepProgram : std::uint8_t { train, train_compile };

std::string_view name_of(MoePath path);
std::vector<std::string> names_of(const std::vector<MoePath>& paths);  ///< "dropping"
std::string_view name_of(Quantization quantization);  ///< "fp8_full"; of none ""
std::string_view name_of(OptimizerType optimizer);  ///< "adamw"
std::string_view name_of(StepProgram program);      ///< "train_compile"
std::string_view name_of(AttentionKernel kernel);    ///< "cudnn_flash_te"
std::string_view name_of(ContextStrategy strategy);  ///< "all_gather"

/// Where a named activation lives between forward and backward.
enum class SavePlace : std::uint8_t { recompute, device, host };

struct TrainConfig {
  StepProgram program = StepProgram::train;
  double per_device_batch_size = 12.0;
  std::int64_t max_target_length = 2048;
  std::int64_t gradient_accumulation_steps = 1;
  DType dtype = DType::bf16;  ///< compute
  DType weight_dtype = DType::f32;
  DType grad_dtype = DType::f32;
  DType mu_dtype = DType::f32;  ///< weight_dtype unless set
  OptimizerType opt_type = OptimizerType::adamw;

  Quantization quantization = Quantization::none;
  bool use_qwix_quantization = false;  ///< Qwix in place of AQT or Flax
  Calibration weight_quantization_calibration_method, act_quantization_calibration_method,
      bwd_quantization_calibration_method;            ///< heeded by fp8_full alone
  MixedPrecision quant_cfg_path;                     ///< heeded by intmp alone
  std::int64_t quantization_local_shard_count = -1;  ///< 0: AQT multiplies weight gradients in the compute dtype

  std::string remat_policy = "full";
  bool places_activations = false;  ///< RematPolicy's
  std::map<std::string, SavePlace> saved;  ///< what the policy (or remat_policy=custom) saves, by checkpoint name
  bool scan_layers = true;

  MoePath moe_path = MoePath::none;
  bool idle_ring_of_experts = false;  ///< use_ring_of_experts where the path says it not: read by MaxText's checks alone
  bool megablox = true;  ///< grouped-matmul kernel; false: jax.lax.ragged_dot
  bool use_tokamax_gmm = false;     ///< tokamax's kernel in its place: same operands and results
  bool use_random_routing = false;  ///< experts drawn at random: perfectly balanced, and nothing learnt
  bool runs_sparse_experts() const { return moe_path == MoePath::ragged || moe_path == MoePath::ring; }
  bool has_grouped_kernel() const { return megablox || use_tokamax_gmm; }  ///< on the sparse path
  /// The dropping path's einsums are quantized in Linen modules (AqtEinsum, Fp8Einsum), which MaxText's NNX layers call
  /// unbound: CallCompactUnboundModuleError (layers/moe.py, get_einsum; MaxText e591f30cb, Flax 0.12.12).
  bool quantizes_experts_in_linen() const {
    return quantization != Quantization::none && moe_path == MoePath::dropping && !use_qwix_quantization;
  }
  /// AQT looks its layer up among the Linen modules that it is called in, and NNX has none: "'NoneType' object has no
  /// attribute 'path'" (layers/quantizations.py, _get_mixed_precision_cfg; compiled).
  bool quantizes_in_linen() const { return quantization == Quantization::intmp || quantizes_experts_in_linen(); }
  double capacity_factor = -1.0;
  double ragged_buffer_factor = -1.0;  ///< <=0: worst-case receive buffer
  bool moe_dispatch_no_expert_sharding = false;
  bool shard_exp_on_fsdp = false;     ///< expert weights are stored by experts over fsdp (the rule set of that name
                                      ///< says the same by rules)
  bool use_2d_fsdp_sharding = false;  ///< expert weights are stored by experts over fsdp and by rows over fsdp_transpose
  bool moe_fsdp_use_two_stage_all_gather = false;    ///< expert weights leave fsdp_transpose behind fsdp
  bool dense_fsdp_use_two_stage_all_gather = false;  ///< MLP weights leave fsdp behind fsdp_transpose
  bool use_ragged_sort = false;  ///< the ring's rows are sorted by kernels of their own, which write a device's own alone
  bool float32_gate_logits = false;                  ///< the router computes in float32
  bool float32_weight_sum = true;

  AttentionKernel attention = AttentionKernel::autoselected;
  ContextStrategy context_parallel_strategy = ContextStrategy::all_gather;
  bool context_parallel_load_balance = true;
  bool packing = true;                     ///< several documents in a sequence; what kernels can do with it differs
  std::int64_t max_segments_per_seq = -1;  ///< documents at most; Transformer Engine's packed layout needs the number

  std::int64_t param_scan_axis = 1;  ///< where a layer stack has the layers' dim: 0 first, 1 second
  // Tiles of megablox, the experts' grouped kernel: rows, and of both dims of a weight, in the product and both gradients.
  std::int64_t wi_tile_fwd_batch_seq = 512, wi_tile_fwd_embed_dim = 1024, wi_tile_fwd_mlp_dim = 1024;
  std::int64_t wi_tile_dlhs_batch_seq = 512, wi_tile_dlhs_embed_dim = 1024, wi_tile_dlhs_mlp_dim = 1024;
  std::int64_t wi_tile_drhs_batch_seq = 512, wi_tile_drhs_embed_dim = 1024, wi_tile_drhs_mlp_dim = 1024;
  std::int64_t wo_tile_fwd_batch_seq = 512, wo_tile_fwd_embed_dim = 1024, wo_tile_fwd_mlp_dim = 1024;
  std::int64_t wo_tile_dlhs_batch_seq = 512, wo_tile_dlhs_embed_dim = 1024, wo_tile_dlhs_mlp_dim = 1024;
  std::int64_t wo_tile_drhs_batch_seq = 512, wo_tile_drhs_embed_dim = 1024, wo_tile_drhs_mlp_dim = 1024;
  // Blocks of splash attention (TPUs): queries, keys, and keys that are multiplied at a time.
  std::int64_t sa_block_q = 512, sa_block_kv = 512, sa_block_kv_compute = 512;
  std::int64_t sa_block_q_dkv = 512, sa_block_kv_dkv = 512, sa_block_kv_dkv_compute = 512;
  std::int64_t sa_block_q_dq = 512, sa_block_kv_dq = 512;
  bool sa_use_fused_bwd_kernel = false;  ///< one kernel for all gradients
  std::int64_t dq_reduction_steps = 0;   ///< 3: partial sums of tokamax's queries' gradient; 0: one for each block of keys
  bool use_qk_clip = false;              ///< the step ends with a clip of the latent projections by their largest score
  bool use_tokamax_splash = false;       ///< tokamax's kernels in place of jax's; ring, ulysses and usp have no others
  bool runs_tokamax_splash() const { return use_tokamax_splash || context_parallel_strategy != ContextStrategy::all_gather; }
  bool fuses_attention_gradients() const { return runs_tokamax_splash() || sa_use_fused_bwd_kernel; }

  std::int64_t num_pipeline_microbatches = -1;
  std::int64_t num_pipeline_repeats = -1;
  std::int64_t num_layers_per_pipeline_stage = 1;
  std::int64_t pipeline_parallel_layers = -1;
  bool pipeline_delay_activation_forwarding = false;
  bool pipeline_fsdp_ag_once = false;
  bool pipeline_fsdp_ag_per_repeat = false;

  bool enable_nnx = true, pure_nnx = true, pure_nnx_decoder = true;  ///< all false: MaxText's older Linen modules
  bool runs_nnx() const { return pure_nnx && !quantizes_in_linen(); }  ///< printed commands ask for Linen where it has to be
  bool shard_mode_explicit = false;
  bool shard_optimizer_over_data = false;
  bool use_iota_embed = false;
  std::int64_t num_vocab_tiling = 1;
  bool vocab_tiling_ag_once = false;
  /// The head's weight stays gathered over all tiles, and its gradient is summed once behind them.
  bool holds_head_over_tiles() const { return num_vocab_tiling > 1 && vocab_tiling_ag_once; }
  bool optimizer_memory_host_offload = false;
  bool parameter_memory_host_offload = false;  ///< parameters between steps; a step has all of them on the device
  bool allow_split_physical_axes = false;
  CustomMesh custom_mesh = CustomMesh::none;
  bool logits_dot_in_fp32 = false;
  bool cast_logits_to_fp32 = true;
  double sharding_tolerance = 0.02;  ///< share of weights that may miss a mesh axis before MaxText refuses to start
  bool operator==(const TrainConfig&) const = default;
};

/// Whether MaxText's attention is splash attention with this compiler: flash is, and autoselected from 128 tokens on
/// (layers/attention_op.py; shorter ones are dot_product).
bool runs_splash(const TrainConfig& config, const Compiler& compiler);

/// What a fused kernel for attention's gradients leaves of the queries' gradient, to be summed.
struct PartialGradients {
  std::int64_t count = 0;
  bool in_float32 = false;  ///< else in the queries' own type
};

/// Of a kernel over so many keys. jax's leaves a partial sum for each block of keys (dq_shape in its
/// splash_attention_kernel.py), tokamax's likewise, in float32 from five on, or 3 of them with dq_reduction_steps=3 or a
/// mask that is data (ulysses).
PartialGradients partial_query_gradients(const TrainConfig& config, std::int64_t keys);

/// Where JAX puts the devices of this run's mesh.
DeviceOrder device_order(const TrainConfig& config);

/// Whether some of what is saved, by checkpoint name, is moved to the host.
bool offloads(const std::map<std::string, SavePlace>& saved);

/// What of a layer's activations survives until its backward pass, and where.
struct RematPolicy {
  std::string name;                        ///< MaxText's remat_policy: "minimal", "custom"
  std::map<std::string, SavePlace> saved;  ///< by checkpoint name; what is not in it is computed again
  bool places_activations = false;         ///< an argument of its own says where each is: no policy of MaxText's table
  bool offloads() const { return shardplan::offloads(saved); }
  bool operator==(const RematPolicy&) const = default;
};

void set_remat(TrainConfig& config, const RematPolicy& policy);

/// Whether a pipeline can run under it. MaxText joins every policy but one that places activations (custom) with what a
/// pipeline saves (layers/pipeline.py, get_pipeline_remat_policy), by jax.checkpoint_policies.save_from_both_policies, which
/// raises where one offloads.
bool runs_in_pipelines(const RematPolicy& policy);

/// All that MaxText's key takes: those that differ, other names of these, and custom.
std::vector<std::string> all_remat_policies();

/// What remat_policy saves, by checkpoint name (SHARDING.md section 4). Throws InputError on an unknown policy.
std::map<std::string, SavePlace> saved_by_policy(const std::string& policy);
bool is_remat_policy(const std::string& name);  ///< that saved_by_policy knows, by whatever name

/// The policies that saved_by_policy knows, `custom` excluded, from least to most memory.
const std::vector<std::string>& remat_policies();

/// Those of these names. Throws InputError on an unknown one.
std::vector<RematPolicy> named_remat_policies(const std::vector<std::string>& names);

/// MaxText's remat_policy=custom with nothing but the layers' inputs, in host memory (decoder_layer_input=offload): the
/// least device memory that a policy can need.
RematPolicy offloaded_layer_inputs();

}  // namespace shardplan
