#include <algorithm>
#include <array>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/timeline/instruction_words.hpp>
#include <charconv>
#include <cstdint>

namespace shardplan {
namespace {

constexpr std::size_t nowhere = std::string_view::npos;

constexpr std::array<std::string_view, 15> opcodes_of_nothing = {
    "parameter",    "constant",   "bitcast",    "tuple",       "get-tuple-element",
    "after-all",    "replica-id", "recv",       "opt-barrier", "add-dependency",
    "partition-id", "domain",     "send-token", "infeed",      "outfeed"};

/// Whose kernels are bound by the order of what they touch, or by nobody knows what.
constexpr std::array<std::string_view, 5> reordering_opcodes = {"sort", "gather", "scatter", "rng-bit-generator",
                                                                "custom-call"};

}  // namespace

bool does_nothing(std::string_view opcode) {
  return std::find(opcodes_of_nothing.begin(), opcodes_of_nothing.end(), opcode) != opcodes_of_nothing.end();
}

bool reorders_elements(std::string_view opcode) {
  return std::find(reordering_opcodes.begin(), reordering_opcodes.end(), opcode) != reordering_opcodes.end();
}

Access access_by(std::string_view opcode) {
  if (opcode == "parameter") return Access::parameter;
  if (opcode == "tuple") return Access::tuple;
  if (opcode == "bitcast" || opcode == "reshape" || opcode == "get-tuple-element") return Access::view;
  if (opcode == "convert" || opcode == "copy" || opcode == "transpose" || opcode == "bitcast-convert")
    return Access::cast;
  if (opcode == "slice" || opcode == "dynamic-slice" || opcode == "gather") return Access::slice;
  if (opcode == "dynamic-update-slice" || opcode == "scatter") return Access::update;
  return opcode == "fusion" ? Access::fused : Access::all;
}

std::optional<double> stated_cycles(std::string_view rest) {
  constexpr std::string_view key = "\"estimated_cycles\":\"";
  const auto at = rest.find(key);
  if (at == nowhere) return std::nullopt;
  std::int64_t cycles = 0;
  std::from_chars(rest.data() + at + key.size(), rest.data() + rest.size(), cycles);
  return cycles > 0 && cycles < INT64_MAX ? std::optional(static_cast<double>(cycles)) : std::nullopt;
}

Bytes moved_bytes(std::string_view shape) {
  std::int64_t most = 0;
  for (const auto element : elements_of_shape(shape))
    most = std::max(most, bytes_of_shape(element).value_or(0));
  return {most};
}

Bytes moved_slice(std::string_view shape, bool updates) {
  auto elements = elements_of_shape(shape);
  if (updates && !elements.empty()) elements = elements_of_shape(elements.front());
  return {elements.size() > 1 ? bytes_of_shape(elements[1]).value_or(0) : 0};
}

bool is_in_host_memory(std::string_view shape) { return shape.find("S(5)") != nowhere; }

bool runs_on_sparse_core(const HloInstruction& instruction) {
  return attribute_of(instruction, "async_execution_thread") == "\"sparsecore\"";
}

}  // namespace shardplan
