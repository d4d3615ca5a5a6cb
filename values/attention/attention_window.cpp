#include <algorithm>
#include <shardplan/attention/attention_window.hpp>

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

double busiest_slice(std::int64_t sequence, AttentionWindow window, std::int64_t slices) {
  const auto keys_before = [&](std::int64_t query) {
    return query == 0 ? 0 : static_cast<double>(query) * attended_keys(query, window);
  };
  const std::int64_t slice = sequence / slices;
  double busiest = 0;
  for (std::int64_t first = 0; first + slice <= sequence; first += slice)
    busiest = std::max(busiest, keys_before(first + slice) - keys_before(first));
  return busiest * static_cast<double>(slices) / keys_before(sequence);
}

}  // namespace shardplan
