#pragma once
// The file that MaxText's quant_cfg_path names: bits of weights and activations by names of modules, for
// quantization=intmp (layers/quantizations.py, AqtQuantization; configs/quantization/README.md).
#include <shardplan/train_config.hpp>
#include <string>

namespace shardplan {

/// Reads it; MaxText's own four are known without a checkout, under any path that ends in configs/quantization/NAME.
/// Its names are regular expressions of whole module paths. A training run has one for all products of a scan:
/// "decoder/layers" (compiled), since projections are NNX modules inside of a Linen one; "decoder/layers/…/query", which
/// MaxText's own files name, is nowhere. Throws InputError on a file that is none, on names that some layers have and
/// others have not, on bits that aren't modelled and on tiles.
MixedPrecision read_mixed_precision(const std::string& path, const std::string& place);

}  // namespace shardplan
