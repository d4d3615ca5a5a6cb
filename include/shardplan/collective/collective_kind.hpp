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

}  // namespace shardplan
