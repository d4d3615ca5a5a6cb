#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <audit/hlo/hlo_shape.hpp>
#include <charconv>
#include <shardplan/rounding.hpp>
#include <utility>

namespace shardplan {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.starts_with("/*")) {
    const auto end = text.find("*/");
    if (end == text.npos) break;
    text.remove_prefix(end + 2);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Bits of an element (xla/xla_data.proto, PrimitiveType).
std::optional<int> bits_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, int>, 23> types = {
      {{"bf16", 16}, {"f32", 32}, {"s32", 32}, {"u32", 32}, {"pred", 8},   {"f16", 16},  {"s8", 8},    {"u8", 8},
       {"s64", 64},  {"u64", 64}, {"f64", 64}, {"s16", 16}, {"u16", 16},   {"s4", 4},    {"u4", 4},    {"s2", 2},
       {"u2", 2},    {"s1", 1},   {"u1", 1},   {"c64", 64}, {"c128", 128}, {"token", 0}, {"opaque", 0}}};
  for (const auto& [name, bits] : types)
    if (name == type) return bits;
  if (type.starts_with("f8e")) return 8;
  if (type.starts_with("f4e")) return 4;
  return std::nullopt;
}

/// Calls `add` with each size of "8,4096"; false: not such a list, or `add` refused one.
template <class Add>
bool for_each_dim(std::string_view dims, Add add) {
  while (!dims.empty()) {
    if (dims.starts_with("<=")) dims.remove_prefix(2);  // a dynamic dim: at most this many
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(dims.data(), dims.data() + dims.size(), size);
    if (error != std::errc() || size < 0 || !add(size)) return false;
    dims.remove_prefix(static_cast<std::size_t>(end - dims.data()));
    if (dims.starts_with(','))
      dims.remove_prefix(1);
    else if (!dims.empty())
      return false;
  }
  return true;
}

std::optional<std::int64_t> elements_in(std::string_view dims) {
  std::int64_t elements = 1;
  const bool whole =
      for_each_dim(dims, [&](std::int64_t size) { return !__builtin_mul_overflow(elements, size, &elements); });
  return whole ? std::optional(elements) : std::nullopt;
}

/// "8,128" as numbers; none: it isn't such a list.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const bool whole = for_each_dim(text, [&](std::int64_t number) {
    numbers.push_back(number);
    return true;
  });
  return whole ? numbers : std::vector<std::int64_t>{};
}

/// Between two marks; empty where one is missing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const auto first = text.find(begin);
  if (first == text.npos) return {};
  const auto last = text.find(end, first + begin.size());
  return last == text.npos ? std::string_view{} : text.substr(first + begin.size(), last - first - begin.size());
}

std::optional<std::int64_t> bytes_of_array(std::string_view shape) {
  const auto open = shape.find('['), close = shape.find(']');
  if (open == shape.npos || close == shape.npos || close < open) return std::nullopt;
  const auto bits = bits_of(shape.substr(0, open));
  const auto elements = elements_in(shape.substr(open + 1, close - open - 1));
  std::int64_t all = 0;
  if (!bits || !elements || __builtin_mul_overflow(*elements, *bits, &all)) return std::nullopt;
  return all / 8 + (all % 8 != 0);
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quoted)
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if (c == ')' || c == ']' || c == '}')
      --depth;
    else if (c == ',' && depth == 0) {
      items.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty()) items.push_back(last);
  return items;
}

std::vector<std::string_view> elements_of_shape(std::string_view shape) {
  shape = trimmed(shape);
  if (!shape.starts_with('(') || !shape.ends_with(')')) return {shape};
  return split_list(shape.substr(1, shape.size() - 2));
}

std::optional<std::int64_t> bytes_of_shape(std::string_view shape) {
  shape = trimmed(shape);
  if (!shape.starts_with('(')) return bytes_of_array(shape);
  if (!shape.ends_with(')')) return std::nullopt;
  std::int64_t sum = 0;
  for (const auto element : elements_of_shape(shape)) {
    const auto bytes = bytes_of_shape(element);
    if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) return std::nullopt;
  }
  return sum;
}

std::optional<std::int64_t> bytes_in_tiles(std::string_view shape) {
  constexpr std::int64_t most_of_a_tile = 1 << 20;  // tiles are of a thousand elements or so
  if (!bytes_of_shape(shape)) return std::nullopt;
  auto dims = dims_of_shape(shape);
  const auto bits = bits_of(trimmed(shape).substr(0, trimmed(shape).find('[')));
  const std::vector<std::int64_t> minor_to_major = numbers_in(between(shape, "]{", ":"));
  const std::vector<std::int64_t> tile = numbers_in(between(shape, ":T(", ")"));
  if (!dims || !bits || tile.empty() || minor_to_major.size() != dims->size()) return bytes_of_shape(shape);
  for (std::size_t i = 0; i < std::min(tile.size(), dims->size()); ++i) {
    const auto dim = static_cast<std::size_t>(minor_to_major[i]);
    const std::int64_t part = tile[tile.size() - 1 - i];
    if (dim >= dims->size() || part == 0 || part > most_of_a_tile) return bytes_of_shape(shape);
    (*dims)[dim] = rounded_up((*dims)[dim], part);
  }
  std::int64_t all = *bits;
  for (const std::int64_t size : *dims)
    if (__builtin_mul_overflow(all, size, &all)) return std::nullopt;
  return divided_up(all, std::int64_t{8});
}

std::optional<std::vector<std::int64_t>> dims_of_shape(std::string_view shape) {
  shape = trimmed(shape);
  const auto open = shape.find('['), close = shape.find(']');
  if (shape.starts_with('(') || open == shape.npos || close == shape.npos || close < open) return std::nullopt;
  std::vector<std::int64_t> dims;
  const bool whole = for_each_dim(shape.substr(open + 1, close - open - 1), [&](std::int64_t size) {
    dims.push_back(size);
    return true;
  });
  return whole ? std::optional(std::move(dims)) : std::nullopt;
}

std::string short_shape(std::string_view shape) {
  shape = trimmed(shape);
  if (!shape.starts_with('(') || !shape.ends_with(')')) return std::string(shape.substr(0, shape.find('{')));
  std::vector<std::string> parts;
  const auto elements = elements_of_shape(shape);
  for (const auto element : elements) {
    if (parts.size() == 3) {
      parts.push_back(fmt::format("{} more", elements.size() - 3));
      break;
    }
    parts.push_back(short_shape(element));
  }
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace shardplan
