// Tokens to the devices of their experts and back by ragged all-to-all (SHARDING.md 2.4). Dispatch reads {tokens, routing
// weights [batch, sequence, top_k]}, sorted by expert; the return reads {rows, routing weights} and yields [batch,
// sequence, top_k, embed], one row for each of a token's experts.
#include <cost_models/operations/expert_rows.hpp>
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

class RaggedExchange : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    exchange(state, op, BlockState::phase_of(pass));
  }

  void backward(BlockState& state, const Operation& op) const override {
    exchange(state, op, Phase::backward);
    state.gradients.contribute(op.inputs.front(), {state.spec(op.inputs.front()), {}}, op);
  }

  /// Permutations come from the router.
  std::vector<TensorId> read_by_gradient(const Block&, const Operation& op) const override {
    return {op.inputs.back()};
  }

  /// Rows change places twice: between devices, and into the order of the experts. Both orders exist while one is made
  /// of the other.
  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    if (!state.compiler.has(Habit::keeps_unsorted_rows)) return {};
    const Bytes rows = state.local(rows_of(state.block.operations[id]));
    if (!schedule.has_backward(id))
      return {{"rows in order of arrival", rows, schedule.forward[id], schedule.forward[id]}};
    std::vector<Lifetime> copies = {
        {"rows in order of arrival, gradient", rows, schedule.backward_begins[id], schedule.backward_ends[id]}};
    if (const int step = schedule.recomputed[id]; step >= 0)
      copies.push_back({"rows in order of arrival", rows, step, step});
    return copies;
  }

 protected:
  virtual TensorId rows_of(const Operation& op) const = 0;
  virtual TensorId tokens_of(const Operation& op) const = 0;
  /// Of each local token.
  virtual std::int64_t copies(const BlockState& state, const Operation& op) const = 0;
  virtual Cause cause() const = 0;

 private:
  /// The balanced payload: each local token goes to top_k experts.
  void exchange(BlockState& state, const Operation& op, Phase phase) const {
    const Bytes payload = state.local(tokens_of(op)) * copies(state, op);
    state.recorder.record(phase, {CollectiveKind::ragged_all_to_all, state.program.expert_axes, payload},
                          {state.id_of(op), tokens_of(op), cause()}, state.block.executions);
  }
};

class RaggedDispatch final : public RaggedExchange {
 public:
  PartitionSpec result_spec(const BlockState& state, const Operation& op) const override {
    return expert_rows_spec(state, op);
  }

 protected:
  TensorId rows_of(const Operation& op) const override { return op.output; }
  TensorId tokens_of(const Operation& op) const override { return op.inputs.front(); }
  std::int64_t copies(const BlockState& state, const Operation& op) const override {
    return state.tensor(op.inputs.back()).dims.back().size;
  }
  Cause cause() const override { return Cause::expert_dispatch; }
};

class RaggedReturn final : public RaggedExchange {
 protected:
  TensorId rows_of(const Operation& op) const override { return op.inputs.front(); }
  TensorId tokens_of(const Operation& op) const override { return op.output; }
  std::int64_t copies(const BlockState&, const Operation&) const override { return 1; }
  Cause cause() const override { return Cause::expert_return; }
};

}  // namespace

const OperationKind& ragged_dispatch_kind() {
  static const RaggedDispatch kind;
  return kind;
}

const OperationKind& ragged_return_kind() {
  static const RaggedReturn kind;
  return kind;
}

}  // namespace shardplan
