#pragma once
// A compiled program as its schedule has it: each computation's instructions in the order in which they run, with what
// each computes, moves and waits for. Still without a machine.
#include <cstdint>
#include <optional>
#include <shardplan/attention/attention_blocks.hpp>
#include <shardplan/attention/attention_window.hpp>
#include <shardplan/compiler/grouped_tiles.hpp>
#include <shardplan/train_config.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// [m, k]·[k, n], `groups` times; of a grouped product m rows in all of `groups`.
struct ProductDims {
  double m = 0, n = 0, k = 0, groups = 1;
  std::optional<DType> narrow;  ///< of operands of 8 bits and less
  GroupedTile tile = {};        ///< of a grouped product's kernel, where the text says it
  bool makes_weights = false;   ///< of a grouped one: the gradient of its weights
};

enum class KernelKind : std::uint8_t {
  vector,          ///< elementwise work, copies, reductions: bound by what it reads and writes
  product,         ///< dense products, with what is fused around them
  grouped_product, ///< rows of several experts, each group with its own weight
  attention,
};

struct KernelWork {
  KernelKind kind = KernelKind::vector;
  std::vector<ProductDims> products;
  Flops attention;               ///< of an attention kernel
  AttentionShape attention_shape;
  bool is_gradient = false;      ///< of GPUs' attention kernels: that of the backward pass; splash's loop says its own
  std::optional<BlockLoop> loop; ///< of splash attention, where its mask says how many blocks it has
  /// Of splash attention whose mask is data: as far back as its grid reaches; of one that reaches all keys no tokens.
  std::optional<AttentionWindow> window;
  Bytes traffic;                 ///< read and written in memory
  std::optional<double> cycles;  ///< as the compiler estimated them (XLA:TPU)
  bool is_elementwise = false;   ///< of vector work: nothing in it sorts, gathers or scatters
  bool known = true;             ///< false: a custom call of a target that is in no table; its traffic alone counts
};

enum class HloStepKind : std::uint8_t {
  nothing,     ///< takes no time: parameters, constants, tuples, other views of what is there
  kernel,
  collective,
  call,        ///< of a computation that communicates, or runs beside this one
  loop,
  branch,      ///< one of its callees runs
};

/// Of an asynchronous instruction: what begins it, hands it its operands, and waits for it.
enum class AsyncHalf : std::uint8_t { whole, start, update, done };

/// What an asynchronous kernel or call runs on.
enum class Engine : std::uint8_t {
  compute,      ///< where all kernels run: a GPU's other streams share its processors
  copies,       ///< DMA between a TPU's memories
  host_copies,  ///< to the host's memory and back
  offload,      ///< a SparseCore
};

struct HloStep {
  std::string name;  ///< "all-gather-start.3"
  HloStepKind kind = HloStepKind::nothing;
  AsyncHalf half = AsyncHalf::whole;
  Engine engine = Engine::compute;
  std::vector<std::size_t> operands;  ///< steps of the same computation
  std::vector<std::size_t> callees;   ///< computations
  std::optional<std::int64_t> trips;  ///< of a loop; empty: nobody knows
  std::optional<std::size_t> collective;  ///< in HloComputation::collectives
  bool settled = true;  ///< of a collective that is no pair of halves: the compiler said that it is synchronous. Else
                        ///< (XLA:TPU) what it runs beside is decided after the text was written
  KernelWork work;
};

struct HloSchedule {
  std::vector<std::vector<HloStep>> computations;  ///< as HloProgram::computations; fused ones too
  /// Rows that a device sends in the largest ragged exchange: so many are valid of a worst-case buffer behind it if
  /// experts are chosen evenly. 0: there is none.
  std::int64_t exchanged_rows = 0;
};

}  // namespace shardplan
