#pragma once
// The matrix that Newton-Schulz works on, as optax.contrib.muon sees a weight: reduction dims x output dims, transposed
// when it has more rows than columns. Experts, like layers, are a batch of matrices.
#include <cost_models/layouts/stacked_layers.hpp>
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

/// In which matrices are gathered: XLA:TPU casts what moves.
DType newton_schulz_dtype(const TrainConfig& config, const Compiler& compiler);

/// One weight's matrices of all layers on a device, experts and all. X is [kept, contracted], A = XXᵀ.
struct MuonStack {
  MuonMatrix matrix;
  std::int64_t count = 1;               ///< of matrices
  std::int64_t rows = 1, columns = 1;   ///< parts that the kept and the contracted dim are split into
  bool of_experts = false;
  bool is_split() const { return rows > 1; }               ///< on its kept dim
  bool is_squared_by_rows() const { return rows > columns; }  ///< each device has its rows of A; else all has each
  /// Elements on a device of all matrices: of X; of X gathered over the axes of its kept dim; of A, whole.
  std::int64_t shard() const { return whole() / rows; }
  std::int64_t whole() const { return count * matrix.kept * matrix.contracted / columns; }
  std::int64_t square() const { return count * matrix.kept * matrix.kept; }
};

/// Of a weight that muon updates.
MuonStack muon_stack(const PartitionedBlock& block, std::size_t weight, const BoundProgram& program);

/// One of each such weight.
std::vector<MuonStack> muon_stacks(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program);

/// The products of all five steps on one device, three of each weight: A = XXᵀ, A², and (bA + cA²)X, of the rows of A that
/// the device has. 32 matrices [4096, 14336] over fsdp=8: 5 · 32 · (4 · 4096² · 14336 + 2 · 4096³) / 8 = 22 TFLOP.
std::vector<OperationWork> newton_schulz_products(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                                  const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
