#pragma once
// A compiled program as far as communication goes: per computation its collectives and what it calls.
#include <audit/hlo/replica_groups.hpp>
#include <cstdint>
#include <optional>
#include <shardplan/collective/collective.hpp>
#include <shardplan/machine/hardware.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// What a loop of collective-permutes stands for (collective matmul: XLA's windowed einsum).
enum class RingOf : std::uint8_t { nothing, all_gather, reduce_scatter };

/// One of several collectives that the compiler made one.
struct CombinedPart {
  std::string op_name;
  std::string shape;
  Bytes bytes;
};

struct HloCollective {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::string name;        ///< "all-gather.152"
  std::string op_name;     ///< as JAX named it; may be empty
  std::string shape;       ///< of the result: "bf16[8,1,4096,14336]"
  Bytes bytes;             ///< as CollectiveKind says
  std::vector<CombinedPart> parts;  ///< of a combined one that names all of them; their bytes are its own
  std::size_t groups = 0;  ///< index into HloProgram::groups
  RingOf ring = RingOf::nothing;
  bool scattered = false;  ///< an all-reduce of which each device keeps only its own slice
  bool rematerialized = false;  ///< a clone that the compiler made to run it again rather than keep its result
};

enum class CallKind : std::uint8_t { once, loop, branch };

struct HloCall {
  CallKind kind = CallKind::once;
  std::size_t callee = 0;
  std::string name, op_name;          ///< of the calling instruction
  std::optional<std::int64_t> trips;  ///< loop: as the compiler recorded them, or as its first counter says
  std::size_t condition = 0;          ///< loop: the computation that decides
  std::int64_t line = 0;
};

struct HloComputation {
  std::string name;
  bool defined = false;
  std::vector<HloCollective> collectives;
  std::vector<HloCall> calls;         ///< of computations that communicate
  std::optional<std::int64_t> trips;  ///< as a loop's condition: "counter < 32" of a counter that starts at 0
  std::optional<std::size_t> counter;  ///< likewise: which element of the loop's tuple is compared
};

struct HloProgram {
  std::string source;  ///< the file
  std::string module;  ///< "jit_train_step"
  bool scheduled = false;  ///< instructions stand in the order in which they run
  std::int64_t devices = 1;
  MaxtextHardware built_for = MaxtextHardware::none;  ///< whose compiler wrote it; none: it doesn't show
  std::optional<Bytes> tokens;  ///< of a device, of one array of the batch: 32-bit integers in rows of a sequence
  std::optional<Bytes> arguments;  ///< of a device, in its own memory; where the text has the entry's layout
  std::vector<HloComputation> computations;
  std::size_t entry = 0;
  std::vector<ReplicaGroups> groups;  ///< each distinct one once
  std::vector<Mesh> meshes;           ///< named by groups, except the compiler's own ("axis_0"); each distinct one once
};

}  // namespace shardplan
