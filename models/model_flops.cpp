#include <algorithm>
#include <models/model_flops.hpp>
#include <models/programs/matrices.hpp>

namespace shardplan {
namespace {

std::int64_t size_in(const Tensor& tensor, Dim dim) {
  for (const auto& d : tensor.dims)
    if (d.dim == dim) return d.size;
  return 1;
}

std::int64_t multiplied_weights(const Block& block) {
  std::int64_t weights = 0;
  for (const Matrix& matrix : matrices_of(block)) switch (matrix.use) {
      case WeightUse::multiplied:
        weights += elements_of(*matrix.tensor);
        break;
      case WeightUse::by_experts:
        weights += elements_of_a_tokens_experts(*matrix.tensor, block);
        break;
      case WeightUse::looked_up:
      case WeightUse::idle:
        break;
    }
  return weights;
}

/// The two products of a head: query·key over the qk dim, probabilities·value over the v dim, with each key.
double attention_products(const Operation& op, const Block& block, std::int64_t sequence) {
  const Tensor &query = block.tensors[op.inputs[0]], &context = block.tensors[op.output];
  const std::int64_t dims = query.dims.back().size + context.dims.back().size;
  const AttentionWindow window = op.selected_keys > 0 ? AttentionWindow{op.selected_keys} : op.attention_window;
  const double pooled = static_cast<double>(op.pooled_keys) / 2;  // those that lie before a query
  return static_cast<double>(size_in(query, Dim::q_heads) * dims) * (attended_keys(sequence, window) + pooled);
}

/// A head's state is decayed, corrected, written and read, each key dim · value dim multiply-adds (MaxText
/// utils/maxtext_utils.py: calculate_gated_delta_net_flops_per_device).
double delta_rule_products(const Operation& op, const Block& block) {
  const Tensor &query = block.tensors[op.inputs[0]], &context = block.tensors[op.output];
  return 4.0 * static_cast<double>(size_in(context, Dim::kv_heads) * query.dims.back().size * context.dims.back().size);
}

/// The score of a key is a product a head and the heads' weighted sum; keys after the query don't count (MaxText
/// utils/maxtext_utils.py: calculate_indexer_tflops_per_device).
double key_selection_products(const Operation& op, const Block& block, std::int64_t sequence) {
  const Tensor& query = block.tensors[op.inputs[0]];
  return static_cast<double>(size_in(query, Dim::q_heads) * (query.dims.back().size + 1)) * attended_keys(sequence, {});
}

/// Of half a batch 1/2.
double share_of_tokens(const Operation& op, const Block& block) {
  return static_cast<double>(size_in(block.tensors[op.inputs[0]], Dim::batch)) /
         static_cast<double>(size_in(block.tensors[block.input], Dim::batch));
}

/// Π of the dims that either operand has. A mask [batch, sequence, experts, capacity] is no arithmetic.
double activation_products(const Operation& op, const Block& block) {
  const Tensor &lhs = block.tensors[op.inputs[0]], &rhs = block.tensors[op.inputs[1]];
  if (has_dim(lhs, Dim::capacity) || has_dim(rhs, Dim::capacity)) return 0;
  double products = static_cast<double>(elements_of(lhs));
  for (const auto& dim : rhs.dims)
    if (!has_dim(lhs, dim.dim)) products *= static_cast<double>(dim.size);
  const Tensor& input = block.tensors[block.input];
  return products / static_cast<double>(size_in(input, Dim::batch) * size_in(input, Dim::sequence));
}

bool is_between_activations(const Operation& op, const std::vector<TensorId>& roots, const Block& block) {
  return op.kind == OpKind::einsum && std::none_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
           return block.tensors[roots[input]].parameter;
         });
}

/// Multiply-adds of a token in one layer, weights left out.
double other_products(const Block& block, std::int64_t sequence) {
  const std::vector<TensorId> roots = roots_of(block);
  double products = 0;
  for (const auto& op : block.operations) {
    if (op.kind == OpKind::attention) products += attention_products(op, block, sequence) * share_of_tokens(op, block);
    if (op.kind == OpKind::key_selection) products += key_selection_products(op, block, sequence);
    if (op.kind == OpKind::delta_rule) products += delta_rule_products(op, block);
    if (is_between_activations(op, roots, block)) products += activation_products(op, block);
  }
  return products;
}

}  // namespace

Flops model_flops_per_token(const Program& program) {
  std::int64_t weights = 0;
  double others = 0;
  for (const auto& block : program.blocks) {
    weights += multiplied_weights(block) * block.layers;
    others += other_products(block, program.sequence) * static_cast<double>(block.layers);
  }
  return {6 * static_cast<double>(weights) + 6 * others};
}

}  // namespace shardplan
