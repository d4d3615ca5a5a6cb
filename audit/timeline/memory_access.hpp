#pragma once
// What a kernel reads and writes in memory. Of an operand of which only slices are used as much counts as they have; one
// that is updated in place isn't read, and is written as far as the update goes.
#include <cstdint>
#include <functional>
#include <shardplan/units.hpp>
#include <vector>

namespace shardplan {

/// What an operation does with its operands' memory.
enum class Access : std::uint8_t {
  parameter,
  all,     ///< reads its operands, writes its result
  view,    ///< is its first operand, in another shape
  cast,    ///< makes its result of its first operand, element by element: reads no more than is used of it
  tuple,   ///< is all of its operands
  slice,   ///< reads as much of its first operand as its result has (dynamic-slice, slice, gather)
  update,  ///< writes its second operand into its first (dynamic-update-slice, scatter)
  fused,   ///< what a computation does
};

struct AccessingOperation {
  Access access = Access::all;
  std::vector<std::size_t> operands;  ///< operations of the same computation
  std::size_t number = 0;             ///< of a parameter
  std::size_t callee = 0;             ///< of a fusion
  Bytes bytes;                        ///< of its result
};

/// Of one run of a computation.
struct MemoryAccess {
  std::vector<Bytes> reads;  ///< by parameter
  Bytes written;
  Bytes traffic() const;
};

using AccessOfComputation = std::function<const MemoryAccess&(std::size_t computation)>;

/// Of a fused computation, its operations in order, `root` the one that is its result.
MemoryAccess access_of_computation(const std::vector<AccessingOperation>& operations, std::size_t root,
                                   const AccessOfComputation& of_callee);

/// Whether a computation makes nothing but its first parameter, in another shape, layout or type: inside of a fused one such
/// a fusion is a cast (libtpu 0.0.50.1 on 7x: copy_fusion, from tiles of 16 rows to tiles of 8).
bool is_cast(const std::vector<AccessingOperation>& operations, std::size_t root);

/// Of an operation that runs as a kernel by itself: what it reads and writes.
Bytes traffic_of_operation(const std::vector<AccessingOperation>& operations, std::size_t operation,
                           const AccessOfComputation& of_callee);

}  // namespace shardplan
