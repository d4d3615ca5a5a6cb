#include <fmt/format.h>

#include <arguments/settings/quantization_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

[[noreturn]] void refuse(const TrainConfig& config, std::string_view reason) {
  throw InputError(fmt::format("quantization={}: {}; modelled are int8, intmp, fp8, nanoo_fp8, te_fp8_delayedscaling and "
                               "te_fp8_currentscaling, and with use_qwix_quantization=true int4, int8, fp4, fp8, fp8_e4m3, "
                               "fp8_e5m2, fp8_full, fp8_gpu and fp8_nanoo",
                               name_of(config.quantization), reason));
}

constexpr std::string_view block_scales =
    "scales of blocks of numbers, which Blackwell alone multiplies with, are not modelled";
constexpr std::string_view wants_qwix =
    "MaxText does not start with it unless use_qwix_quantization=true";
constexpr std::string_view no_rule =
    "Qwix has no rule for it, and MaxText would train without quantization";

}  // namespace

void check_quantization(const TrainConfig& config) {
  const bool qwix = config.use_qwix_quantization;
  switch (config.quantization) {
    case Quantization::none:
    case Quantization::int8:
    case Quantization::fp8:
      return;
    case Quantization::int4:
    case Quantization::fp4:
    case Quantization::fp8_e4m3:
    case Quantization::fp8_e5m2:
    case Quantization::fp8_full:
    case Quantization::fp8_gpu:
    case Quantization::fp8_nanoo:
      if (!qwix) refuse(config, wants_qwix);
      return;
    case Quantization::nanoo_fp8:
      if (qwix) refuse(config, no_rule);
      return;
    case Quantization::intmp:
      if (qwix) refuse(config, no_rule);
      if (config.quant_cfg_path.path.empty()) refuse(config, "it wants quant_cfg_path, a file of bits by names of modules");
      return;
    case Quantization::te_fp8_delayedscaling:
    case Quantization::te_fp8_currentscaling:
      if (qwix) refuse(config, no_rule);
      return;
    case Quantization::te_mxfp8:
    case Quantization::te_nvfp4:
    case Quantization::te_nvfp4_no_rht:
      refuse(config, qwix ? no_rule : block_scales);
  }
  throw InternalError("unknown Quantization");
}

}  // namespace shardplan
