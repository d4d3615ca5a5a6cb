#pragma once
// One collective of a train step, counted and (once a machine is known) priced.
#include <cstdint>
#include <shardplan/mesh.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

enum class Phase : std::uint8_t { forward, rematerialized_forward, backward, optimizer };
enum class CollectiveKind : std::uint8_t {
  all_gather,          ///< bytes: the gathered result
  all_reduce,          ///< bytes: the tensor
  reduce_scatter,      ///< bytes: the full input
  all_to_all,          ///< bytes: the local buffer
  ragged_all_to_all,   ///< bytes: the balanced payload
  collective_permute,  ///< bytes: what one device sends
};
std::string_view name_of(Phase phase);          ///< "rematerialized_forward"
std::string_view name_of(CollectiveKind kind);  ///< "all-gather"

struct Collective {
  Phase phase = Phase::forward;
  CollectiveKind kind = CollectiveKind::all_gather;
  AxisList axes;  ///< mesh axes of size above 1, in mesh order
  std::int64_t group_size = 1;
  Bytes bytes;                  ///< per device and execution, as CollectiveKind says
  std::int64_t executions = 1;  ///< per step
  std::string op;               ///< where in the program: "layers/self_attention/query"
  std::string why;              ///< one sentence: which tensor, which rule put which axis where
  Seconds seconds;              ///< of all executions; 0 until priced
  bool parameter = false;       ///< moves a weight or the gradient of one, not an activation
};

}  // namespace shardplan
