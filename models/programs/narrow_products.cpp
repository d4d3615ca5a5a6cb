#include <algorithm>
#include <models/programs/matrices.hpp>
#include <models/programs/narrow_products.hpp>

namespace shardplan {
namespace {

/// What MaxText multiplies with.
enum class Multiplier {
  none,           ///< no product with a weight
  dense,          ///< lax.dot_general, of DenseGeneral and of the router
  expert_einsum,  ///< jnp.einsum over [experts, batch, capacity, …], masks among them
  grouped,        ///< megablox, Tokamax or jax.lax.ragged_dot over the rows of experts
};

Multiplier multiplier_of(const Operation& op, const Block& block) {
  if (op.kind != OpKind::einsum || block.kind != BlockKind::layer) return Multiplier::none;
  const auto any_has = [&](Dim dim) {
    return has_dim(block.tensors[op.output], dim) ||
           std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) { return has_dim(block.tensors[id], dim); });
  };
  if (any_has(Dim::rows)) return Multiplier::grouped;
  if (any_has(Dim::capacity)) return Multiplier::expert_einsum;
  const std::vector<TensorId> roots = roots_of(block);
  const bool weight = std::any_of(op.inputs.begin(), op.inputs.end(),
                                  [&](TensorId id) { return block.tensors[roots[id]].parameter; });
  return weight ? Multiplier::dense : Multiplier::none;
}

Scaling scaling_of(const Calibration& calibration) { return calibration.fixed ? Scaling::fixed : Scaling::channelwise; }

NarrowProduct all_products(const TrainConfig& config) {
  NarrowProduct narrow;
  narrow.operands = narrow_dtype(config.quantization);
  narrow.input_gradient = narrow.weight_gradient = true;
  return narrow;
}

/// AQT, config_v3: gradients narrow their operands on scales of their own, the gradient of the result with random numbers
/// (stochastic rounding, rng_type jax.uniform). megablox takes its forward types alone.
std::optional<NarrowProduct> by_aqt(Multiplier multiplier, const TrainConfig& config) {
  NarrowProduct narrow = all_products(config);
  if (multiplier == Multiplier::grouped) {
    if (!config.megablox) return std::nullopt;
    narrow.input_gradient = narrow.weight_gradient = false;
    return narrow;
  }
  narrow.narrows_again = narrow.rounds_gradients_randomly = true;
  narrow.weight_gradient = config.quantization_local_shard_count != 0;
  return narrow;
}

/// AQT, dot_general_make without bits for gradients: these multiply the product's narrow operands in wide numbers, the
/// scale going to the gradient of the result (use_fwd_quant). It has no grouped product (quantization_violation).
std::optional<NarrowProduct> by_bits(Multiplier multiplier, const MixedPrecision& precision) {
  if (multiplier == Multiplier::grouped) return std::nullopt;
  NarrowProduct narrow;
  narrow.operands = precision.activation_bits == 4 ? DType::s4 : DType::s8;
  if (precision.weight_bits) narrow.weight_operand = *precision.weight_bits == 4 ? DType::s4 : DType::s8;
  narrow.activation = precision.activation_bits.has_value();
  narrow.weight = precision.weight_bits.has_value();
  return narrow.activation || narrow.weight ? std::optional(narrow) : std::nullopt;
}

/// flax.linen.Fp8DirectDotGeneralOp, also through Qwix (NvidaFp8Provider): one scale a tensor, from past steps.
NarrowProduct by_flax(const TrainConfig& config) {
  NarrowProduct narrow = all_products(config);
  narrow.weight_scaling = narrow.activation_scaling = narrow.gradient_scaling = Scaling::delayed;
  return narrow;
}

/// Transformer Engine's dense (transformer_engine/jax/dense.py): weight, activation and gradient are narrowed on one scale
/// a tensor, row by row for the product and column by column for gradients (is_2x2x, NVIDIA/TransformerEngine d0067d0da).
/// The kernel's partition wants weights whole over the axes that hold their shards, narrow as they are.
NarrowProduct by_transformer_engine(const TrainConfig& config) {
  NarrowProduct narrow = all_products(config);
  const bool delayed = config.quantization == Quantization::te_fp8_delayedscaling;
  narrow.weight_scaling = narrow.activation_scaling = narrow.gradient_scaling =
      delayed ? Scaling::delayed : Scaling::tensorwise;
  narrow.turns_weight = true;
  return narrow;
}

/// Rules of Qwix name operations: dot_general; of fp8_full also the grouped products.
std::optional<NarrowProduct> by_qwix(Multiplier multiplier, const TrainConfig& config) {
  const bool full = config.quantization == Quantization::fp8_full;
  const bool delayed =
      config.quantization == Quantization::fp8_gpu || config.quantization == Quantization::fp8_nanoo;
  if (delayed) return multiplier == Multiplier::dense ? std::optional(by_flax(config)) : std::nullopt;
  if (multiplier == Multiplier::expert_einsum || (multiplier == Multiplier::grouped && !full)) return std::nullopt;
  NarrowProduct narrow = all_products(config);
  if (!full) return narrow;
  narrow.weight_scaling = scaling_of(config.weight_quantization_calibration_method);
  narrow.activation_scaling = scaling_of(config.act_quantization_calibration_method);
  narrow.gradient_scaling = scaling_of(config.bwd_quantization_calibration_method);
  return narrow;
}

}  // namespace

DType narrow_dtype(Quantization quantization) {
  if (quantization == Quantization::none) return DType::bf16;
  if (quantization == Quantization::int4) return DType::s4;
  if (quantization == Quantization::fp4) return DType::f4;
  return quantization == Quantization::int8 || quantization == Quantization::intmp ? DType::s8 : DType::f8;
}

std::optional<NarrowProduct> narrow_product(const Operation& op, const Block& block, const TrainConfig& config) {
  if (config.quantization == Quantization::none) return std::nullopt;
  const Multiplier multiplier = multiplier_of(op, block);
  if (multiplier == Multiplier::none) return std::nullopt;
  if (config.use_qwix_quantization) return by_qwix(multiplier, config);
  if (runs_transformer_engine(config.quantization)) return by_transformer_engine(config);
  if (config.quantization == Quantization::intmp) return by_bits(multiplier, config.quant_cfg_path);
  return config.quantization == Quantization::int8 ? by_aqt(multiplier, config) : by_flax(config);
}

}  // namespace shardplan
