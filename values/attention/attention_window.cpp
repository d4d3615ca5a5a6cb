#include <shardplan/attention_window.hpp>

namespace shardplan {

double attended_keys(std::int64_t sequence, AttentionWindow window) {
  const auto all = static_cast<double>(sequence), width = static_cast<double>(window.tokens);
  if (window.tokens <= 0 || window.tokens >= sequence) return all / 2;
  switch (window.shape) {
    case WindowShape::sliding:
      return width - width * width / (2 * all);
    case WindowShape::chunked:
      break;
  }
  const auto chunks = static_cast<double>(sequence / window.tokens), rest = static_cast<double>(sequence % window.tokens);
  return (chunks * width * width + rest * rest) / (2 * all);
}

}  // namespace shardplan
