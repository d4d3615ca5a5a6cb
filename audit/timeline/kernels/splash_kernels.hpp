#pragma once
// The kernels of splash attention (jax.experimental.pallas.ops.tpu.splash_attention), from the shapes of their operands.
// Causal masks are functions of positions; of windows and chunks a kernel reads the blocks that the mask cuts, [blocks,
// queries, keys], behind all other operands, and its grid is as wide as the fullest row of blocks: three of 1,024 are a
// window of 2,048 tokens. Blocks that are cut on one side only, the diagonal's, are those of chunks.
#include <audit/timeline/kernels/custom_kernels.hpp>

namespace shardplan {

/// Products, and the loop where the text says how large blocks are. Empty where the operands aren't what they should be.
std::optional<KernelWork> splash_work(CustomKernel kernel, const HloInstruction& instruction);

/// Gradients that are made of all blocks of keys don't say which are visited: they take the window that the program's other
/// kernels with such masks agree on. Where these don't, all that is causal stays counted.
void share_windows(HloSchedule& schedule);

}  // namespace shardplan
