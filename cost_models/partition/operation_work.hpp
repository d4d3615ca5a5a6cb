#pragma once
// What one device computes for one operation in one run of its block: its kernel, and the vector work beside it. Counts,
// still without a machine.
#include <shardplan/attention/attention_blocks.hpp>
#include <shardplan/attention/attention_window.hpp>
#include <shardplan/compiler/grouped_tiles.hpp>
#include <shardplan/inline_list.hpp>
#include <shardplan/program.hpp>
#include <shardplan/train_config.hpp>
#include <shardplan/units.hpp>
#include <shardplan/compiler/vector_kernel.hpp>

namespace shardplan {

enum class WorkKind : std::uint8_t {
  matmul,          ///< a dense product
  grouped_matmul,  ///< rows of several experts, each group with its own weight
  attention,       ///< softmax(q·kT)·v in one kernel
  vector,          ///< no kernel of its own: vector work alone
};

/// [m, k]·[k, n] on one device; of a product with batch dims each of them; of a grouped one, m rows in all of `groups`.
/// Unknown where m is 0.
struct MatrixShape {
  double m = 0, n = 0, k = 0;
  double groups = 1;
  Flops flops() const { return {2 * m * n * k * groups}; }
};

/// Passes through the vector unit, each an element, and operands and results that they read and write.
struct VectorWork {
  double passes = 0, operands = 0;  ///< elements
  Bytes traffic;                    ///< of the operands
  VectorWork& operator+=(const VectorWork& other) {
    passes += other.passes;
    operands += other.operands;
    traffic += other.traffic;
    return *this;
  }
};

/// `elements` of `dtype` at what a kernel costs each.
inline VectorWork vector_work(VectorCost cost, double elements, DType dtype) {
  const double operands = cost.operands * elements;
  return {cost.passes * elements, operands,
          Bytes{static_cast<std::int64_t>(operands * static_cast<double>(size_of(dtype)))}};
}

/// Rows of the experts' buffer, in the order of the experts, that are added up to one for each: gradients of their biases.
struct RowSums {
  double numbers = 0;  ///< in all rows, of all sums
  double rows = 0;     ///< of one sum
  double width = 0;    ///< numbers in a row
};

/// Numbers that are written at places which an index names, one after another.
struct Scatter {
  double updates = 0;   ///< numbers that are written
  double elements = 0;  ///< of the result
  std::int64_t size = 0;  ///< bytes of a number
};

/// Of splash attention; elsewhere none.
using BlockLoops = InlineList<BlockLoop, 2>;

struct OperationWork {
  WorkKind kind = WorkKind::vector;
  Flops forward, backward;                  ///< of its kernel; backward: one product for each operand with a gradient
  Bytes forward_traffic, backward_traffic;  ///< HBM reads and writes of the kernel
  MatrixShape shape;                        ///< of the forward product
  GroupedTiles tiles;                       ///< of a grouped one
  AttentionShape attention;
  std::int64_t gradients = 2;               ///< products in `backward`: the left operand's gradient, the right one's
  BlockLoops forward_loops, backward_loops;  ///< of the kernels that forward and backward are
  VectorWork vector_forward, vector_backward;
  RowSums row_sums;                          ///< in the backward pass
  InlineList<Scatter, 2> scatters_forward;
  Scatter scatter_backward;
  VectorWork fused_forward, fused_backward;  ///< of it, beside those: what is a part of a product's kernel

  DType narrow_dtype = DType::s8;  ///< of that part of a product that multiplies in fewer bits:
  Flops narrow_forward = {}, narrow_backward = {};
};

/// Of a step without a backward pass.
inline OperationWork forward_of(OperationWork work) {
  work.backward = {};
  work.backward_traffic = {};
  work.backward_loops.clear();
  work.vector_backward = {};
  work.row_sums = {};
  work.scatter_backward = {};
  work.fused_backward = {};
  work.narrow_backward = {};
  return work;
}

}  // namespace shardplan
