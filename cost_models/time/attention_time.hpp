#pragma once
// Share of a machine's peak that an attention kernel reaches, by the width of its heads and the keys of its queries.
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

enum class AttentionPass : std::uint8_t { forward, backward };

/// share(head dim) · keys/(keys + extra keys). Heads of 128 at 0.6, 460 extra keys: 0.54 where a query has 4,096 keys,
/// 0.30 where it has 460.
double share_of_peak(const AttentionKernels& kernels, AttentionShape shape, AttentionPass pass);

}  // namespace shardplan
