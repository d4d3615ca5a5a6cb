// What MaxText refuses of quantized products (configs/types.py, utils/train_utils.py, layers/moe.py), and machines that
// have no peak for them.
#include <fmt/format.h>

#include <models/programs/narrow_products.hpp>
#include <planner/constraints/constraints.hpp>
#include <rules/expert_tiles.hpp>

namespace shardplan {
namespace {

std::optional<Infeasible> unquantized(std::string message, std::int64_t needed, std::int64_t available) {
  return Infeasible{ConstraintId::quantization, std::move(message), needed, available};
}

/// The histories of largest values are state that a gradient overwrites: they can't be added up.
bool keeps_histories(Quantization quantization) {
  return quantization == Quantization::fp8 || quantization == Quantization::nanoo_fp8 ||
         quantization == Quantization::fp8_gpu || quantization == Quantization::te_fp8_delayedscaling;
}

/// layers/moe.py, get_quantization_dtypes: Flax's quantization has no quant_dg, that of intmp is a table of layers'
/// (AttributeError when traced).
bool has_no_grouped_product(const TrainConfig& config) {
  const bool other = config.quantization == Quantization::fp8 || config.quantization == Quantization::nanoo_fp8 ||
                     config.quantization == Quantization::intmp;
  return config.runs_sparse_experts() && other && !config.use_qwix_quantization;
}

std::optional<Infeasible> cut_scales(const Configuration& c) {
  if (!tiles_cut_scales(c)) return std::nullopt;
  const TrainConfig& config = c.config;
  const std::int64_t columns = expert_columns(c), tile = config.wi_tile_fwd_mlp_dim;
  const bool narrow_gradients = config.quantization == Quantization::fp8_full;  // cut by the weight gradient's tiles
  return unquantized(fmt::format("quantization={} with megablox: {} columns of experts' weights aren't whole tiles of {}, "
                                 "and MaxText does not trace it: set wi_tile_fwd_mlp_dim{} to a divisor, {} say, or "
                                 "use_tokamax_gmm=true megablox=false",
                                 name_of(config.quantization), columns, tile,
                                 narrow_gradients ? " and wi_tile_drhs_mlp_dim" : "", columns),
                     tile, columns);
}

/// layers/quantizations.py: "Einsum is not yet supported for TransformerEngine quantization", and no quant_dg for the
/// grouped product; the library is one of GPUs.
std::optional<Infeasible> no_transformer_engine(const Configuration& c) {
  if (!runs_transformer_engine(c.config.quantization)) return std::nullopt;
  const std::string_view name = name_of(c.config.quantization);
  if (c.hardware.launch.hardware == MaxtextHardware::tpu)
    return unquantized(fmt::format("quantization={}: Transformer Engine runs on GPUs alone", name), 1, 0);
  if (c.model.has_experts())
    return unquantized(fmt::format("quantization={}: MaxText has no experts of Transformer Engine", name), 1, 0);
  return std::nullopt;
}

bool has_half_bytes(const TrainConfig& config) {
  const MixedPrecision& bits = config.quant_cfg_path;
  const bool of_file = config.quantization == Quantization::intmp && (bits.weight_bits == 4 || bits.activation_bits == 4);
  return of_file || bits_of(narrow_dtype(config.quantization)) == 4;
}

/// Weights alone, or activations alone, are multiplied as wide numbers.
bool multiplies_wide(const TrainConfig& config) {
  const MixedPrecision& bits = config.quant_cfg_path;
  return config.quantization == Quantization::intmp && !(bits.weight_bits && bits.activation_bits);
}

}  // namespace

std::optional<Infeasible> quantization_violation(const Configuration& c) {
  const TrainConfig& config = c.config;
  if (config.quantization == Quantization::none) return std::nullopt;
  const std::string_view name = name_of(config.quantization);
  if (c.model.decoder_block.gated_delta_net && config.quantization == Quantization::intmp)
    return unquantized("quantization=intmp of decoders with gated delta nets, which MaxText calls in other modules than "
                       "Linen's, is not modelled: quantization=int8 is", 0, 1);
  if (keeps_histories(config.quantization) && config.gradient_accumulation_steps > 1)
    return unquantized(fmt::format("quantization={} takes 1 gradient_accumulation_steps, not {}", name,
                                   config.gradient_accumulation_steps),
                       1, config.gradient_accumulation_steps);
  if (config.pipeline_fsdp_ag_per_repeat && pipeline_stages(c.mesh) > 1)
    return unquantized("pipeline_fsdp_ag_per_repeat excludes quantization", 0, 1);
  if (auto refused = no_transformer_engine(c)) return refused;
  if (has_half_bytes(config) && c.hardware.launch.hardware != MaxtextHardware::tpu)
    return unquantized(fmt::format("quantization={} on {}: products of 4 bits are modelled on TPUs alone; set "
                                   "quantization={}",
                                   name, c.hardware.name, config.quantization == Quantization::fp4 ? "fp8" : "int8"),
                       1, 0);
  if (has_no_grouped_product(config))
    return unquantized(
        fmt::format("quantization={} has no grouped product for sparse_matmul=true: MaxText does not trace it; "
                    "sparse_matmul=false{}",
                    name, config.quantization == Quantization::intmp ? "" : ", or use_qwix_quantization=true"),
        1, 0);
  if (auto refused = cut_scales(c)) return refused;
  const DType dtype = narrow_dtype(config.quantization);
  if (multiplies_wide(config) || narrow_peak(c.hardware, dtype)) return std::nullopt;
  const bool is_int8 = multiplied_as(dtype, c.hardware) == DType::s8;
  const bool has_other = narrow_peak(c.hardware, is_int8 ? DType::f8 : DType::s8).has_value();
  const std::string_view instead =
      is_int8 ? "; peak_fp8 it has, for quantization=fp8" : "; peak_int8 it has, for quantization=int8";
  return unquantized(fmt::format("quantization={} on {}: its profile has no {} to price the products with{}", name,
                                 c.hardware.name, is_int8 ? "peak_int8" : "peak_fp8", has_other ? instead : ""),
                     1, 0);
}

}  // namespace shardplan
