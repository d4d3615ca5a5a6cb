// Which buffers one run of a block needs, and when: values of the (re)computed forward, gradients, gathered forms.
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>

namespace shardplan {
namespace {

bool reads(const std::vector<TensorId>& inputs, TensorId tensor) {
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

void append(std::vector<Lifetime>& all, const std::vector<Lifetime>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

bool works_in_place(const Operation& op) { return op.kind == OpKind::elementwise || op.kind == OpKind::add; }

}  // namespace

/// A result that is another name for its input, or that is computed inside whatever reads it (masks and one-hot ids: a
/// comparison that fuses into the product that reads it).
bool BlockPartitioner::has_no_buffer(const Operation& op) const {
  return op.kind == OpKind::constrain || (works_in_place(op) && !tensor(op.output).differentiable);
}

/// The gradient of a tensor exists from the first reader's gradient on; that of the block's output from the start.
int BlockPartitioner::gradient_begins(TensorId id) const {
  int first = backward_begin_.back();
  for (const int step : recompute_step_)
    if (step >= 0) first = std::min(first, step);
  if (id == block_.output) return first;
  first = forms_.step();
  for (std::size_t i = 0; i < block_.operations.size(); ++i)
    if (reads(block_.operations[i].inputs, id)) first = std::min(first, backward_begin_[i]);
  return first;
}

/// The gradient of an elementwise operation's result is overwritten by the gradient of an input.
int BlockPartitioner::gradient_ends(std::size_t i) const {
  return works_in_place(block_.operations[i]) ? backward_begin_[i] - 1 : backward_step_[i];
}

/// Logits and their gradient are float32 if their product asks for it; the loss makes float32 of bf16 ones on the fly.
Bytes BlockPartitioner::buffer_bytes(TensorId id) const {
  const Tensor& t = tensor(id);
  const bool logits = block_.kind == BlockKind::head && !t.parameter && t.dims.back().dim == Dim::vocab;
  if (!logits || !config_.logits_dot_in_fp32) return local(id);
  return Bytes{local_elements(t.dims, specs_[id], mesh_) * size_of(DType::f32)};
}

/// The last step that reads a value which the backward pass can see: recomputation, or the gradient of a reader.
int BlockPartitioner::last_read(TensorId id) const {
  int last = 0;
  for (std::size_t i = 0; i < block_.operations.size(); ++i) {
    const auto& op = block_.operations[i];
    const bool input = reads(op.inputs, id);
    if (!input && op.output != id) continue;
    if (input) last = std::max(last, block_.rematerialized ? recompute_step_[i] : forward_step_[i]);
    const bool loss = input && op.kind == OpKind::cross_entropy;  // its gradient makes the softmax again
    if (loss || reads(read_by_gradient(block_, op), id)) last = std::max(last, backward_step_[i]);
    if (input && op.kind == OpKind::constrain) last = std::max(last, last_read(op.output));
  }
  return last;
}

/// attention=dot_product holds the scores [batch, heads, queries, keys]: probabilities and their mask from where they
/// are (re)computed to their gradient (recorded: XLA:GPU's largest temporaries).
std::vector<Lifetime> BlockPartitioner::attention_scores(std::size_t i) const {
  const auto& op = block_.operations[i];
  const Tensor& query = tensor(op.inputs.front());
  const std::int64_t rows =
      local_elements(query.dims, attention_form(op.inputs.front()), mesh_) / query.dims.back().size;
  const std::int64_t scores = rows * program_.program->sequence;
  const int written = block_.rematerialized ? recompute_step_[i] : forward_step_[i];
  return {{"attention probabilities", Bytes{scores * size_of(query.dtype)}, written < 0 ? backward_begin_[i] : written,
           backward_step_[i]},
          {"attention mask", Bytes{scores}, written < 0 ? backward_begin_[i] : written, backward_step_[i]},
          {"attention probabilities gradient", Bytes{scores * size_of(query.dtype)}, backward_begin_[i],
           backward_step_[i]}};
}

/// Rows change places twice: between devices, and into the order of the experts. Both orders exist while one is made of
/// the other.
std::vector<Lifetime> BlockPartitioner::unsorted_rows(std::size_t i) const {
  const auto& op = block_.operations[i];
  const TensorId rows = op.kind == OpKind::ragged_dispatch ? op.output : op.inputs.front();
  std::vector<Lifetime> copies = {
      {"rows in order of arrival, gradient", local(rows), backward_begin_[i], backward_step_[i]}};
  if (recompute_step_[i] >= 0)
    copies.push_back({"rows in order of arrival", local(rows), recompute_step_[i], recompute_step_[i]});
  return copies;
}

std::vector<Lifetime> BlockPartitioner::lifetimes() const {
  std::vector<Lifetime> all = forms_.lifetimes();
  append(all, partial_gradients_);
  for (std::size_t i = 0; i < block_.operations.size(); ++i) {
    const auto& op = block_.operations[i];
    const Tensor& output = tensor(op.output);
    const int written = block_.rematerialized ? recompute_step_[i] : forward_step_[i];
    if (written >= 0 && !has_no_buffer(op))
      all.push_back({output.name, buffer_bytes(op.output), written, last_read(op.output)});
    if (op.kind == OpKind::cross_entropy && block_.rematerialized)  // a vocabulary tile computes its logits again
      all.push_back(
          {tensor(op.inputs.front()).name, buffer_bytes(op.inputs.front()), backward_begin_[i], backward_step_[i]});
    if (!output.differentiable || has_no_buffer(op)) continue;
    all.push_back({output.name + " gradient", buffer_bytes(op.output), gradient_begins(op.output), gradient_ends(i)});
    if (op.kind == OpKind::attention && config_.attention == "dot_product") append(all, attention_scores(i));
    if (op.kind == OpKind::ragged_dispatch || op.kind == OpKind::ragged_return) append(all, unsorted_rows(i));
  }
  return all;
}

}  // namespace shardplan
