#pragma once
// Bytes that live through the whole step: parameters, optimizer state, the input batch.
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/partition/partitioned_block.hpp>

namespace shardplan {

/// Σ bytes_of(i, elements of the i-th tensor as it is stored) over the parameters that the block holds, all layers of a
/// device.
template <class BytesOfTensor>
Bytes sum_over_parameters(const PartitionedBlock& block, const BoundProgram& program, BytesOfTensor bytes_of) {
  Bytes total;
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    const Tensor& tensor = block.block->tensors[i];
    if (!tensor.parameter || tensor.shared) continue;
    total += bytes_of(i, block.stored()[i]);
  }
  return total * layers_on_device(*block.block, program.program->pipeline);
}

/// Parts into which ZeRO-1 splits what one device holds of the block's i-th tensor, a parameter; 1 without it.
std::int64_t optimizer_shards(const PartitionedBlock& block, std::size_t i, const BoundProgram& program,
                              const TrainConfig& config);

/// All parameters of a block in their own layout on one device. A head that reads the embedding table holds none of its
/// own.
Bytes whole_parameter_bytes(const PartitionedBlock& block, const BoundProgram& program, DType dtype);

/// As they are kept between steps, in weight_dtype: under ZeRO-1 the training loop keeps a data shard only.
Bytes parameter_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config);

/// What a parameter is kept in: weight_dtype, unless it has a type of its own.
DType kept_dtype(const Tensor& parameter, const TrainConfig& config);

/// Moments that the optimizer keeps of a parameter: two of adamw and adam_pax, none of sgd, one of muon's matrices.
int moment_count(const Tensor& tensor, const Block& block, const TrainConfig& config);

/// Bytes of the moments of one element.
std::int64_t moment_bytes(const Tensor& tensor, const Block& block, const TrainConfig& config);

/// Optimizer moments (SHARDING.md section 4): adamw mu_dtype + weight_dtype an element; adam_pax two of weight_dtype;
/// sgd none; muon one for matrices and two for embedding, head and scales. With ZeRO-1 a data shard of it.
Bytes optimizer_state_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config);

/// Of it what the device holds through the step: nothing with optimizer_memory_host_offload.
Bytes optimizer_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config);

/// Histories of largest values and scales of the products with delayed scales, which every device holds whole: three of
/// each a product and layer (quantization=fp8), float32. A layer of 7 products: 7 · 3 · 1025 · 4 = 86,100 bytes.
Bytes history_bytes(const PartitionedBlock& block, const BoundProgram& program);

/// Five int32 arrays [B·ga, S]: inputs and targets, their segments, and positions.
Bytes batch_bytes(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config);

}  // namespace shardplan
