#pragma once
// The arithmetic that a token is worth: what utilization (MFU) is measured in. No recomputation, no padding.
#include <shardplan/program.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

/// FLOPs of one token's forward and backward pass, a fold over the program:
///   6 · active matrix weights (the input embedding, a lookup, left out)
///     + Σ layers 6 · q heads · (qk dim + v dim) · keys that a query attends to on average
///     + 6 · multiply-adds of products between activations (not the ones that only move tokens to experts)
/// Causal: half the sequence, which makes the second term the usual 6·L·S·heads·dim; a window w < S: w - w²/2S.
/// (Narayanan et al. 2021, arXiv 2104.04473, appendix; causal as MaxText counts since PR #1988.)
/// Llama3.1-70B at 8192: 6·69.5e9 + 6·80·8192·64·128 = 4.17e11 + 0.32e11 = 4.49e11.
Flops model_flops_per_token(const Program& program);

}  // namespace shardplan
