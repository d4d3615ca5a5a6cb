#pragma once
// One collective of a train step, counted and (once a machine is known) priced. What it belongs to and why it exists are
// ids and enums; planner/words makes sentences of them.
#include <cstdint>
#include <shardplan/collective/cause.hpp>
#include <shardplan/collective/collective_kind.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/program.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

enum class Phase : std::uint8_t { forward, rematerialized_forward, backward, optimizer };
std::string_view name_of(Phase phase);          ///< "rematerialized_forward"

struct Collective {
  Phase phase = Phase::forward;
  CollectiveKind kind = CollectiveKind::all_gather;
  AxisList axes;  ///< mesh axes of size above 1, in mesh order
  GroupSpan span = GroupSpan::whole;  ///< of those axes, the part that a group has
  std::int64_t group_size = 1;
  Bytes bytes;                  ///< per device and execution, as CollectiveKind says
  std::int64_t executions = 1;  ///< per step
  Seconds seconds;              ///< of all executions; 0 until priced
  Seconds exposed;              ///< of them, what the device waits for; 0 until scheduled
  bool parameter = false;       ///< moves a weight or the gradient of one, not an activation
  bool in_place_of_gather = false;  ///< an all-reduce of shards among zeros

  BlockId block = -1;          ///< in Program::blocks; -1: read from a compiled program, not planned
  OperationId operation = -1;  ///< in Block::operations; -1: of a tensor between steps or stages, not of an operation
  TensorId tensor = -1;        ///< in Block::tensors: what moves, or whose gradient does
  Cause cause = Cause::operand_layout;
  Layout from;       ///< of the tensor, before; partial: axes over which it is still to be summed
  PartitionSpec to;  ///< and after this and the other collectives of the same move

  /// By a device in a step.
  Bytes moved() const { return bytes * executions; }
  /// What it is for, whatever is emitted: an all-gather where all-reduced shards are in place of one.
  CollectiveKind purpose() const { return in_place_of_gather ? CollectiveKind::all_gather : kind; }
};

/// A collective with the words that a reader finds it by.
struct NamedCollective : Collective {
  std::string op;   ///< where in the program: "layers/self_attention/query"
  std::string why;  ///< one sentence: which tensor, which rule put which axis where
};

}  // namespace shardplan
