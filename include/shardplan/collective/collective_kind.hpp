#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace shardplan {

enum class CollectiveKind : std::uint8_t {
  all_gather,          ///< bytes: the gathered result
  all_reduce,          ///< bytes: the tensor
  reduce_scatter,      ///< bytes: the full input
  all_to_all,          ///< bytes: the local buffer
  ragged_all_to_all,   ///< bytes: the balanced payload
  collective_permute,  ///< bytes: what one device sends
};
std::span<const CollectiveKind> all_collective_kinds();
std::string_view name_of(CollectiveKind kind);  ///< "all-gather"

/// What a collective does, however: all-reduce and reduce-scatter are one class, since which of them the compiler takes
/// for the same reduction is its habit.
enum class TrafficClass : std::uint8_t { gather, reduce, exchange, shift };
TrafficClass class_of(CollectiveKind kind);
std::string_view name_of(TrafficClass traffic);  ///< "all-gather", "all-reduce", "all-to-all", "collective-permute"
/// For people, who read "all-reduce" as that kind alone: "reduction" is a reduce-scatter, too.
std::string_view noun_of(TrafficClass traffic);

}  // namespace shardplan
