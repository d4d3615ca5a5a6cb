#pragma once
// Elementwise work as a compiler cuts it into kernels: what its file (compilers/*.json, `vector_kernels`) says of each.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace shardplan {

/// What elementwise work is done for. Elements are counted of the tensor that the name says, on one device.
enum class VectorKernel : std::uint8_t {
  normalization,         ///< the normed tensor: statistics; the gradient
  rotation,              ///< queries and keys: rotary positions of features in halves, and the kernel's layout
  interleaved_rotation,  ///< likewise, of neighbouring features
  saved_value,           ///< what the forward pass writes into the stack that the backward pass reads; backward: what of it
                         ///< products and attention kernels read, cut out of the stack
  alone,                 ///< an elementwise operation with no matrix product next to it: its result
  beside_product,        ///< one with a product next to it, and what scales a normed tensor: its result
  token_copies,          ///< a token's row for each of its experts, [tokens, top_k, width]; their gradients' sum
  copies_sum,            ///< those rows, weighted and summed
  exchanged_rows,        ///< rows that a ragged all-to-all sends; backward: those that it has received
  routed_rows,           ///< rows of the experts' buffer; backward: the sum of their gradients from two projections
  sorted_rows,           ///< rows that are written in another order, by a kernel of its own: a token's rows in that of the
                         ///< experts, and back; behind an exchange those of the buffer too
  scale_search,          ///< what a product narrows: its largest number, of a channel or of all; backward: a gradient
  narrowing,             ///< likewise: scaled, rounded to the nearest and written; backward: a gradient
  stochastic_narrowing,  ///< likewise, rounded with random numbers
  loss,                  ///< logits: maximum and sum; their gradient
  scores,                ///< attention=dot_product, [heads, queries, keys]: mask and softmax; their gradient
  turned_scores,         ///< likewise, where several heads of queries share keys: written in the order that the gradients
                         ///< of keys and values contract
  expert_order,          ///< rows of the dropping path of a device's several sequences, [sequence, expert, …] and
                         ///< [expert, sequence, …]: one is written as the other
  expanded_rows,         ///< rows written once for each local expert, where ragged_dot is dense; backward: those in
                         ///< another order
  weight_use,            ///< a device's share of a weight, cut out of its stack and cast, once a pass
  weight_gradient,       ///< written into its stack, cleared before; its norm
  matrix_gradient,       ///< likewise, of a matrix whose layers' dim is second to last in the stack: copied beside it
  update,                ///< a parameter: AdamW on float32 weight, gradient and both moments
  moments,               ///< read again by the kernel that updates the parameter
};
inline constexpr std::size_t vector_kernel_count = static_cast<std::size_t>(VectorKernel::moments) + 1;

std::span<const VectorKernel> all_vector_kernels();
std::string_view name_of(VectorKernel kernel);  ///< "saved_value", the id in files

/// Of one element: how often it passes through the vector unit, and how many operands and results do (a copy: 1 pass,
/// 2 operands).
struct VectorCost {
  double passes = 0, operands = 0;
};

struct VectorCosts {
  VectorCost forward, backward;
};

class VectorKernels {
 public:
  const VectorCosts& of(VectorKernel kernel) const { return costs_[static_cast<std::size_t>(kernel)]; }
  bool fuses_into_products = false;  ///< what is beside a product is a part of its kernel, and of its seconds
  VectorCosts& of(VectorKernel kernel) { return costs_[static_cast<std::size_t>(kernel)]; }

 private:
  std::array<VectorCosts, vector_kernel_count> costs_{};
};

}  // namespace shardplan
