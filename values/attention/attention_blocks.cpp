#include <algorithm>
#include <shardplan/attention/attention_blocks.hpp>
#include <shardplan/error.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

std::int64_t first_key(std::int64_t query, AttentionWindow window) {
  if (window.tokens <= 0) return 0;
  if (window.shape == WindowShape::chunked) return query / window.tokens * window.tokens;
  return std::max<std::int64_t>(query - window.tokens + 1, 0);
}

std::int64_t last_query(std::int64_t key, std::int64_t sequence, AttentionWindow window) {
  if (window.tokens <= 0) return sequence - 1;
  const std::int64_t last = window.shape == WindowShape::chunked ? (key / window.tokens + 1) * window.tokens - 1
                                                                 : key + window.tokens - 1;
  return std::min(last, sequence - 1);
}

struct Counts {
  std::int64_t visited = 0, whole = 0;
  std::int64_t fullest_row = 0;  ///< of queries
};

Counts count(std::int64_t sequence, AttentionWindow window, BlockSizes block) {
  Counts counts;
  for (std::int64_t first = 0; first < sequence; first += block.queries) {
    const std::int64_t last = std::min(first + block.queries, sequence) - 1;
    const std::int64_t begin = first_key(first, window) / block.keys, end = last / block.keys + 1;
    counts.visited += end - begin;
    counts.fullest_row = std::max(counts.fullest_row, end - begin);
    const std::int64_t whole_begin = divided_up(first_key(last, window), block.keys);
    counts.whole += std::max<std::int64_t>((first + 1) / block.keys - std::max(begin, whole_begin), 0);
  }
  return counts;
}

std::int64_t fullest_column(std::int64_t sequence, AttentionWindow window, BlockSizes block) {
  std::int64_t fullest = 0;
  for (std::int64_t first = 0; first < sequence; first += block.keys) {
    const std::int64_t last = std::min(first + block.keys, sequence) - 1;
    fullest = std::max(fullest, last_query(last, sequence, window) / block.queries - first / block.queries + 1);
  }
  return fullest;
}

}  // namespace

std::string_view name_of(SplashLibrary library) {
  switch (library) {
    case SplashLibrary::jax:
      return "jax";
    case SplashLibrary::tokamax:
      return "tokamax";
  }
  throw InternalError("unknown SplashLibrary");
}

std::string_view name_of(SplashKernel kernel) {
  switch (kernel) {
    case SplashKernel::forward:
      return "forward";
    case SplashKernel::query_gradient:
      return "query_gradient";
    case SplashKernel::key_value_gradient:
      return "key_value_gradient";
    case SplashKernel::fused_gradient:
      return "fused_gradient";
  }
  throw InternalError("unknown SplashKernel");
}

double register_lanes(std::int64_t width) {
  constexpr std::int64_t lanes = 128;
  return static_cast<double>(rounded_up(width, lanes));
}

int products_of(SplashKernel kernel) {
  switch (kernel) {
    case SplashKernel::forward:
      return 2;
    case SplashKernel::query_gradient:
      return 3;
    case SplashKernel::key_value_gradient:
      return 4;
    case SplashKernel::fused_gradient:
      return 5;
  }
  throw InternalError("unknown SplashKernel");
}

BlockLoop block_loop(SplashLibrary library, SplashKernel kernel, std::int64_t sequence, AttentionWindow window,
                     BlockSizes block) {
  block.queries = std::min(block.queries, sequence);
  block.keys = std::min(block.keys, sequence);
  block.multiplied_keys = std::min(block.multiplied_keys, block.keys);
  const Counts counts = count(sequence, window, block);
  const auto rows = divided_up(sequence, block.queries), columns = divided_up(sequence, block.keys);
  const bool over_keys = kernel == SplashKernel::key_value_gradient || kernel == SplashKernel::fused_gradient;
  std::int64_t steps = rows * counts.fullest_row;
  if (kernel == SplashKernel::key_value_gradient) steps = columns * fullest_column(sequence, window, block);
  if (kernel == SplashKernel::fused_gradient) steps = columns * rows;
  if (library == SplashLibrary::tokamax && kernel == SplashKernel::forward) steps = counts.visited;
  BlockLoop loop;
  loop.library = library;
  loop.kernel = kernel;
  loop.block = block;
  loop.visited = static_cast<double>(counts.visited);
  loop.masked = static_cast<double>(counts.visited - counts.whole);
  loop.rows = static_cast<double>(over_keys ? columns : rows);
  loop.steps = static_cast<double>(steps);
  return loop;
}

}  // namespace shardplan
