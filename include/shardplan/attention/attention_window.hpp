#pragma once
// Which keys a causal query attends to.
#include <cstdint>

namespace shardplan {

enum class WindowShape : std::uint8_t {
  sliding,  ///< the last `tokens` before it
  chunked,  ///< those before it in its chunk: [0, tokens), [tokens, 2·tokens), … (llama4)
};

struct AttentionWindow {
  std::int64_t tokens = 0;  ///< 0: all before it
  WindowShape shape = WindowShape::sliding;
  bool operator==(const AttentionWindow&) const = default;
};

/// Keys that a query attends to on average, of `sequence`: half of them; under a sliding window w: w - w²/2S; in chunks
/// of w: half a chunk, the last one cut short where it doesn't fit, (n·w² + r²)/2S with S = n·w + r.
double attended_keys(std::int64_t sequence, AttentionWindow window);

/// What an attention kernel's seconds depend on beside its products; 0 where it isn't known.
struct AttentionShape {
  double keys = 0;      ///< that a query attends to, in the mean
  double head_dim = 0;  ///< of queries and of values, where they differ their mean
};

/// Keys of the busiest of `slices` equal runs of the sequence, as a multiple of the average run's: 2 - 1/n of all that came
/// before, 1 of chunks that no run cuts. 4 runs of 8 queries: the last attends to 8 · 28 keys, the average to 8 · 16: 1.75.
double busiest_slice(std::int64_t sequence, AttentionWindow window, std::int64_t slices);

}  // namespace shardplan
