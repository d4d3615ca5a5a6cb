// Which buffers one run of a block needs, and when: values of the (re)computed forward, gradients, gathered forms.
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>

namespace shardplan {
namespace {

bool reads(const std::vector<TensorId>& inputs, TensorId tensor) {
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

/// Operations whose result is another name for an input, or is computed inside whatever reads it.
bool has_no_buffer(const Operation& op) { return op.kind == OpKind::constrain; }

}  // namespace

/// The last step that reads a value which the backward pass can see: recomputation, or the gradient of a reader.
int BlockPartitioner::last_read(TensorId id) const {
  int last = 0;
  for (std::size_t i = 0; i < block_.operations.size(); ++i) {
    const auto& op = block_.operations[i];
    if (reads(op.inputs, id)) last = std::max(last, block_.rematerialized ? recompute_step_[i] : forward_step_[i]);
    if (reads(read_by_gradient(block_, op), id)) last = std::max(last, backward_step_[i]);
    if (op.kind == OpKind::cross_entropy && reads(op.inputs, id)) last = std::max(last, backward_step_[i]);
    if (op.kind == OpKind::constrain && reads(op.inputs, id)) last = std::max(last, last_read(op.output));
  }
  return last;
}

/// attention=dot_product holds the scores [batch, heads, queries, keys]: probabilities and their gradient in the compute
/// dtype, and the mask (recorded: XLA:GPU's largest temporaries).
Lifetime BlockPartitioner::attention_scores(std::size_t i) const {
  const auto& op = block_.operations[i];
  const Tensor& query = tensor(op.inputs.front());
  const std::int64_t rows = local_elements(query.dims, attention_form(op.inputs.front()), mesh_) / query.dims.back().size;
  const std::int64_t scores = rows * program_.program->sequence;
  return {"attention scores", Bytes{scores * (2 * size_of(query.dtype) + 1)}, backward_step_[i], backward_step_[i]};
}

std::vector<Lifetime> BlockPartitioner::lifetimes() const {
  std::vector<Lifetime> all = forms_.lifetimes();
  all.insert(all.end(), unreduced_gradients_.begin(), unreduced_gradients_.end());
  for (std::size_t i = 0; i < block_.operations.size(); ++i) {
    const auto& op = block_.operations[i];
    const Tensor& output = tensor(op.output);
    const int written = block_.rematerialized ? recompute_step_[i] : forward_step_[i];
    if (written >= 0 && !has_no_buffer(op)) all.push_back({output.name, local(op.output), written, last_read(op.output)});
    if (!output.differentiable || has_no_buffer(op)) continue;
    int gradient_begins = backward_step_[i];
    for (std::size_t reader = 0; reader < block_.operations.size(); ++reader)
      if (reads(block_.operations[reader].inputs, op.output)) gradient_begins = std::min(gradient_begins, backward_step_[reader]);
    all.push_back({output.name + " gradient", local(op.output), gradient_begins, backward_step_[i]});
    if (op.kind == OpKind::attention && config_.attention == "dot_product") all.push_back(attention_scores(i));
  }
  return all;
}

}  // namespace shardplan
