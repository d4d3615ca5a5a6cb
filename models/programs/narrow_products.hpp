#pragma once
// Which products of a layer multiply in fewer bits under MaxText's `quantization`, and how: layers/quantizations.py,
// linears.py and moe.py, kernels/megablox/ops.py. The head and the embedding never do.
#include <shardplan/program.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// What `quantization` multiplies; of none bf16.
DType narrow_dtype(Quantization quantization);

/// Of `op`, an operation of `block` that has all of its inputs. Nothing: it multiplies its operands as they are.
std::optional<NarrowProduct> narrow_product(const Operation& op, const Block& block, const TrainConfig& config);

}  // namespace shardplan
