#pragma once
// The matrix that Newton-Schulz works on, as optax.contrib.muon sees a weight: reduction dims x output dims, transposed
// when it has more rows than columns. Experts, like layers, are a batch of matrices.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

inline constexpr std::int64_t newton_schulz_steps = 5;  ///< ns_steps of optax.contrib.muon, as MaxText uses it

struct MuonMatrix {
  std::int64_t kept = 1, contracted = 1;  ///< global sizes; kept is the smaller, of a square one the reduction dim
  std::int64_t batch = 1;                 ///< matrices of one layer on a device
  AxisList kept_axes, contracted_axes;    ///< in mesh order
};

/// Whether muon updates it: a matrix of a layer. Embedding, head, scales and biases are adamw's.
bool is_muon_matrix(const Tensor& weight, const Block& block);

/// Whether it is a matrix of each expert.
bool is_of_experts(const Tensor& weight);

/// In which matrices are gathered: XLA:TPU casts what moves.
DType newton_schulz_dtype(const TrainConfig& config, const Compiler& compiler);

MuonMatrix muon_matrix(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh);

}  // namespace shardplan
