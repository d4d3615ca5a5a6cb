#include <algorithm>
#include <cost_models/blocks/buffers/buffers.hpp>
#include <cost_models/blocks/buffers/dense_layers.hpp>
#include <cost_models/blocks/buffers/exchanged_experts.hpp>
#include <cost_models/blocks/buffers/kept_feed_forward.hpp>
#include <cost_models/blocks/buffers/random_bits.hpp>
#include <cost_models/blocks/buffers/returned_rows.hpp>
#include <cost_models/blocks/buffers/softmax_statistics.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/expert_masks.hpp>
#include <cost_models/partition/logits.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <optional>

namespace shardplan {
namespace {

template <class Tensors>
bool reads(const Tensors& inputs, TensorId tensor) {
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

/// Whether gradients read the narrow copy that the product made of an operand (a form of it), not the operand.
bool reads_copy(const Operation& op, TensorId operand) {
  const bool is_weight = op.inputs.back() == operand;
  return op.narrow && !op.narrow->narrows_again && (is_weight ? op.narrow->weight : op.narrow->activation);
}

void append(std::vector<Lifetime>& all, const std::vector<Lifetime>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

class Buffers {
 public:
  Buffers(const BlockState& state, const Schedule& schedule, const Liveness& liveness, const StepOrder& order,
          Pressure pressure)
      : state_(state), schedule_(schedule), liveness_(liveness), block_(state.block), flow_(state.flow()),
        pressure_(pressure),
        exchanged_(state, schedule, pressure == Pressure::none),
        order_(order),
        dropped_(order.dropped_experts()),
        with_gradients_(dropped_.makes_hidden_rows_with_gradients(schedule)),
        leads_on_(leads_to_next_layer(state.block, *state.program.program) && state.block.rematerialized),
        gradients_last_(pressure == Pressure::none && runs_weight_gradients_last(state, schedule)),
        shares_iteration_(shares_iteration(state.block, *state.program.program)),
        fetches_ahead_(runs_split_layer(state)),
        backward_begins_(schedule.first_backward()) {}

  std::vector<Lifetime> all() const {
    std::vector<Lifetime> all = state_.forms.lifetimes();
    all.reserve(all.size() + 4 * block_.operations.size());
    append(all, state_.gradients.partial());
    order_.order(all);
    append(all, dropped_.sums_at_the_end(schedule_, order_.last()));
    append(all, dropped_.read_by_activation(schedule_));
    const bool statistics_wait = exchanged_.any() || waits_depth_first(state_, liveness_);
    if (pressure_ == Pressure::none) append(all, softmax_statistics(state_, schedule_, statistics_wait));
    append(all, random_bits(state_, schedule_, gradients_last_));
    append(all, returned_rows(state_, schedule_, liveness_));
    append(all, exchanged_.rows_of_tokens());
    append(all, exchanged_.output_sent_back());
    if (gradients_last_) append(all, waiting_for_weight_gradients(state_, schedule_));
    for (std::size_t i = 0; i < block_.operations.size(); ++i) {
      add_operation(all, static_cast<OperationId>(i));
      add_tanh(all, static_cast<OperationId>(i));
    }
    if (fetches_ahead_) add_fetched(all);
    append(all, cut_kernel_operands(state_, schedule_, liveness_));
    return all;
  }

 private:
  /// What an iteration reads from the host is on the device while it runs; what is read last makes room for the next
  /// iteration's, which is fetched meanwhile.
  void add_fetched(std::vector<Lifetime>& all) const {
    for (const TensorId tensor : liveness_.offloaded)
      all.push_back({{tensor, ", from the host"}, bytes_of(tensor), gradient_begins(block_.output), state_.forms.step()});
  }

  const OperationKind& kind_of(OperationId op) const { return operation_kind(block_.operations[op].kind); }

  void add_operation(std::vector<Lifetime>& all, OperationId i) const {
    const auto& op = block_.operations[i];
    const Tensor& output = block_.tensors[op.output];
    const int written = made_with_gradients(i) ? schedule_.backward_begins[i] : exchanged_.written(i);
    const int read = last_step(op.output).value_or(last_read(op.output));
    const int last = schedule_.has_backward(i) ? read : std::max(written, read);
    const bool inside_kernel = has_no_buffer(i) || (with_gradients_ && dropped_.is_last_projection(i));
    if (written >= 0 && !inside_kernel) all.push_back({op.output, bytes_of_value(op.output), written, last});
    if (!schedule_.has_backward(i) || !output.differentiable)
      return append(all, kind_of(i).buffers(state_, schedule_, i));
    // A tile computes its logits again.
    if (kind_of(i).gradient_recomputes() && block_.rematerialized && !is_overwritten_by(i))
      all.push_back({op.inputs.front(), bytes_of(op.inputs.front()),
                     schedule_.backward_begins[i], schedule_.backward_ends[i]});
    if (has_no_buffer(i) && !is_norm_made_where_read(state_, op)) return;
    if (const int begins = differs_from_sum(op.output); !is_gradient_fused(i) && begins <= gradient_ends(i))
      all.push_back({{op.output, " gradient"}, bytes_of(op.output), begins, gradient_ends(i)});
    append(all, kind_of(i).buffers(state_, schedule_, i));
  }

  /// Of an activation that runs again for a product that does, too; one that only gradients read is computed beside its
  /// own (h100c_gm4_fsdp8, whose feed-forward's output is normed; not gemma7bx4_h100x8_fsdp8).
  void add_tanh(std::vector<Lifetime>& all, OperationId i) const {
    const Operation& op = block_.operations[i];
    if (!op.by_tanh || !state_.compiler.has(Habit::keeps_tanh) || schedule_.recomputed[i] < 0) return;
    const auto readers = flow_.readers(op.output);
    if (std::any_of(readers.begin(), readers.end(), [&](OperationId reader) { return schedule_.recomputed[reader] >= 0; }))
      all.push_back({{op.output, ", tanh"}, bytes_of(op.output), schedule_.recomputed[i], schedule_.backward_begins[i]});
  }

  bool made_with_gradients(OperationId i) const { return with_gradients_ && i == dropped_.activation(); }

  int gradient_ends(OperationId i) const {
    if (exchanged_.waits(i) && !waits_as_gathered(i)) return exchanged_.gradients_end(i);
    if (makes_hidden_rows_again(i)) return state_.forms.step();
    return kind_of(i).gradient_ends(state_, schedule_, i);
  }

  bool waits_as_gathered(OperationId i) const {
    return runs_split_layer(state_) && block_.operations[i].role == OperationRole::expert_output;
  }

  /// Hidden rows that were computed again with their projections, of weight gradients that come last: they and their
  /// gradient wait, from which the products compute those of the projections (recorded: plan_llama3170b_tpu7x_64).
  bool makes_hidden_rows_again(OperationId i) const {
    const Operation& op = block_.operations[i];
    return gradients_last_ && op.kind == OpKind::elementwise && op.module == Module::mlp &&
           leads_to_feed_forward_output(op) && !is_kept(op);
  }

  bool is_gradient_fused(OperationId i) const {
    if (is_made_where_read(block_.operations[i])) return true;
    const auto readers = flow_.readers(block_.operations[i].output);
    return std::any_of(readers.begin(), readers.end(), [&](OperationId op) { return makes_hidden_rows_again(op); });
  }

  /// Whether what an operation reads was saved, and not computed again.
  bool is_kept(const Operation& op) const {
    return std::all_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
      const OperationId maker = flow_.maker(input);
      return maker < 0 || schedule_.recomputed[maker] < 0;
    });
  }

  /// A result that is another name for its input, or that is computed inside whatever reads it: masks and one-hot ids, a
  /// comparison that fuses into the product that reads it; and the activation function of one projection.
  bool has_no_buffer(OperationId i) const {
    const bool fuses = state_.compiler.has(Habit::fuses_masks) && kind_of(i).works_in_place() &&
                       !block_.tensors[block_.operations[i].output].differentiable;
    return kind_of(i).is_alias() || fuses || is_fused_activation(i) || is_capped_in_loss(i) ||
           is_norm_made_where_read(state_, block_.operations[i]);
  }

  /// From the logits as their product wrote them.
  bool is_capped_in_loss(OperationId i) const { return is_part_of_loss(block_, flow_, block_.operations[i]); }

  /// Of a feed-forward without a gate: both products that read the hidden rows compute them again from the projection,
  /// and the gradient of the projection is written in place of theirs.
  bool is_fused_activation(OperationId i) const {
    const Operation& op = block_.operations[i];
    if (!state_.compiler.has(Habit::fuses_activations)) return false;
    if (op.kind != OpKind::elementwise || op.module != Module::mlp) return false;
    const auto factors = std::count_if(op.inputs.begin(), op.inputs.end(),
                                       [&](TensorId input) { return !block_.tensors[input].parameter; });
    return factors == 1 || is_made_where_read(op) || (gradients_last_ && leads_to_feed_forward_output(op) && is_kept(op));
  }

  /// Hidden rows whose product runs again, because a norm behind it or the iteration's next layer reads its result: that
  /// product and the gradient of its weight compute them from the projections, and its own gradient writes the projections'.
  bool is_made_where_read(const Operation& op) const {
    if (!state_.compiler.has(Habit::fuses_hidden_rows) || gradients_last_) return false;
    if (op.kind != OpKind::elementwise || op.module != Module::mlp || !leads_to_feed_forward_output(op)) return false;
    const auto readers = flow_.readers(op.output);
    return std::any_of(readers.begin(), readers.end(),
                       [&](OperationId reader) { return schedule_.recomputed[reader] >= 0; });
  }

  /// Hidden rows: the product of the gate and the projection beside it.
  bool leads_to_feed_forward_output(const Operation& op) const {
    const auto readers = flow_.readers(op.output);
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](OperationId reader) {
      return block_.operations[reader].module == Module::mlp && state_.is_layer_product(block_.operations[reader]);
    });
  }

  /// The gradient of a tensor exists from the first reader's gradient on; that of the block's output from the start.
  int gradient_begins(TensorId id) const {
    if (id == block_.output) return backward_begins_;
    int first = state_.forms.step();
    for (const OperationId reader : flow_.readers(id))
      first = std::min(first, writes_gradient(id, reader));
    return first;
  }

  /// From when on a gradient has a buffer of its own: what is added to a residual has the residual's until more is added.
  int differs_from_sum(TensorId id) const {
    const TensorId residual = shares_gradient_of_sum(state_, id);
    if (residual < 0) return gradient_begins(id);
    int first = state_.forms.step();
    for (const OperationId reader : flow_.readers(residual))
      if (reader != flow_.readers(id).front()) first = std::min(first, writes_gradient(residual, reader));
    return std::max(gradient_begins(id), first);
  }

  int writes_gradient(TensorId id, OperationId reader) const {
    if (dropped_.is_late_mask(id, reader)) return schedule_.backward_ends[reader];
    return kind_of(reader).writes_input_gradient(state_, schedule_, reader);
  }

  /// The last step of a tensor that does not simply live to its last reader: a gradient is written over the logits.
  std::optional<int> last_step(TensorId id) const {
    if (const auto last = exchanged_.last_step(id)) return last;
    if (block_.kind != BlockKind::head) return std::nullopt;
    for (const OperationId reader : flow_.readers(id))
      if (is_overwritten_by(reader) && schedule_.has_backward(reader)) return schedule_.backward_begins[reader] - 1;
    return std::nullopt;
  }

  bool is_overwritten_by(OperationId i) const {
    const bool reads_logits = is_capped_in_loss(i) || block_.operations[i].kind == OpKind::cross_entropy;
    return reads_logits && writes_over_logits(block_, flow_, state_.specs(), state_.mesh, state_.compiler) &&
           !copies_waiting_logits(block_, flow_, state_.specs(), state_.mesh, state_.compiler);
  }

  Bytes bytes_of(TensorId id) const {
    const Tensor& tensor = block_.tensors[id];
    if (!tensor.parameter) return Bytes{state_.layout()->stored[id] * size_of(tensor.dtype)};
    return stored_bytes(tensor, state_.spec(id), state_.mesh, state_.compiler);
  }

  /// Masks that are made in slices are there in slices; their gradient is whole.
  Bytes bytes_of_value(TensorId id) const {
    const bool sliced = state_.masks.exist() && is_mask(block_.tensors[id]);
    if (!sliced) return bytes_of(id);
    return stored_bytes(block_.tensors[id], state_.masks.spec, state_.mesh, state_.compiler);
  }

  /// The last step that reads a value which the backward pass can see: recomputation, or the gradient of a reader.
  int last_read(TensorId id) const {
    int last = id == block_.output && leads_on_ ? schedule_.backward_begins.back() : 0;
    last = std::max(last, dropped_.masks_read_until(id, schedule_));
    const OperationId maker = flow_.maker(id);
    if (maker >= 0 && reads(kind_of(maker).read_by_gradient(block_, block_.operations[maker]), id))
      last = std::max(last, read_by_gradient_until(id, maker));
    for (const OperationId reader : flow_.readers(id)) last = std::max(last, last_read_by(id, reader));
    return last;
  }

  int read_by_gradient_until(TensorId id, OperationId op) const {
    return block_.tensors[id].parameter ? schedule_.backward_ends[op] : exchanged_.gradients_end(op);
  }

  int last_read_by(TensorId id, OperationId reader) const {
    const auto& op = block_.operations[reader];
    const auto& kind = kind_of(reader);
    if (const int copied = kind.copies_input(state_, schedule_, reader); copied >= 0) return copied - 1;
    if (made_with_gradients(reader) || dropped_.writes_over(id, reader, schedule_))
      return schedule_.backward_begins[reader] - 1;
    if (is_normed_for_weight_gradient(id, op)) return state_.forms.step();
    int last = schedule_.written(block_, reader);
    if (reads_copy(op, id))  // narrowed for it, unless that is what the gradient reads
      return schedule_.recomputed[reader] < 0 ? std::max(last, schedule_.backward_begins[reader]) : last;
    if (dropped_.is_late_mask(id, reader))
      last = std::max(last, schedule_.backward_begins[reader]);
    else if (kind.gradient_recomputes() || reads(kind.read_by_gradient(block_, op), id))
      last = std::max(last, read_by_gradient_until(id, reader));
    const bool fused = (gradients_last_ && is_fused_activation(reader)) || is_made_where_read(op) ||
                       is_norm_made_where_read(state_, op);
    return kind.is_alias() || fused || makes_hidden_rows_again(reader) ? std::max(last, last_read(op.output)) : last;
  }

  /// What a product makes for a norm: its weight's gradient computes the norm's from it, behind all layers of the iteration
  /// (recorded on 7x: olmo37bx8_7x16_fsdp16_save_dot_except_mlp, query, key and both outputs of each of four layers).
  bool is_normed_for_weight_gradient(TensorId id, const Operation& reader) const {
    const OperationId maker = flow_.maker(id);
    return gradients_last_ && shares_iteration_ && reader.kind == OpKind::normalization && maker >= 0 &&
           state_.is_layer_product(block_.operations[maker]);
  }

  const BlockState& state_;
  const Schedule& schedule_;
  const Liveness& liveness_;
  const Block& block_;
  const DataFlow& flow_;
  const Pressure pressure_;
  const ExchangedExperts exchanged_;
  const StepOrder& order_;
  const DroppedExperts& dropped_;
  const bool with_gradients_;  ///< hidden rows are made, on the dropping path
  const bool leads_on_;  ///< the next layer of the same scan iteration reads the recomputed output
  const bool gradients_last_;  ///< weights'
  const bool shares_iteration_;
  const bool fetches_ahead_;   ///< what was moved to the host
  const int backward_begins_;  ///< step
};

}  // namespace

std::vector<Lifetime> buffers_of(const BlockState& state, const Schedule& schedule, const Liveness& liveness,
                                 const StepOrder& order, Pressure pressure) {
  return Buffers(state, schedule, liveness, order, pressure).all();
}

}  // namespace shardplan
