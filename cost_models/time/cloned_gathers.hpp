#pragma once
// Gathers that a compiler runs twice for want of memory.
#include <shardplan/collective/collective.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

/// Over its budget (cost_models/memory/compiler_budget.hpp) XLA's rematerialization pass clones the gather that all of a
/// layer's weights are combined into: one value that holds them whole from the recomputation to the last gradient.
/// Recorded for Mixtral-8x7B on 288 GiB with thresholds of 8 GiB: %all-gather.44.remat3, 93 GB more
/// (h100m97_mx_4179_dm_amdflags); with default thresholds, under which experts' weights are gathered one by one, none of
/// theirs (…_dm_default).
bool clones_combined_gathers(const MemoryUse& memory, const Compiler& compiler);

/// Weights' gathers of the backward pass run as often again: 64 executions, 20 ms are 128, 40 ms.
void clone_combined_gathers(std::vector<Collective>& priced, const MemoryUse& memory, const Compiler& compiler);

}  // namespace shardplan
