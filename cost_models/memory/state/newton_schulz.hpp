#pragma once
// What Newton-Schulz needs while muon orthogonalizes its matrices (optax.contrib.muon: X ← aX + (bA + cA²)X with A = XXᵀ,
// five times, X in float32). Read off the buffers of thirteen MaxText train steps (ll8_v5p8_fsdp8_muon, the records and
// misses *_muon).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Bytes of one device beside gradients that wait. Shards are in float32; what is gathered, and A where it moves, in
/// newton_schulz_dtype().
///
/// All matrices at once (Habit::orthogonalizes_matrices_together): of each
///   kept dim split:  6 shards (of every step aX, momentum and its update), X whole, A whole
///   kept dim whole:  5 shards, A before and after it is summed, in float32
/// One after the other, experts' last (ds16x6_v5p8_fsdp8_muon): of the largest
///   kept dim split:  5 shards and a narrow one, X whole, A's shard; of all as large as it the momentum
///   kept dim whole:  5 shards, A summed and narrowed; of all others as large as it their update
/// Of [2, 8] kept = 2 in float32: 64 bytes a shard, 16 A.
struct NewtonSchulz {
  Bytes first;  ///< while other gradients wait
  Bytes last;   ///< when all but experts' matrices are updated; 0 where all are in `first`
};

NewtonSchulz newton_schulz(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                           const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
