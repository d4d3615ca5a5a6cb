// Tokens to the devices of their experts and back by ragged all-to-all (SHARDING.md 2.4). Dispatch reads {tokens, routing
// weights [batch, sequence, top_k]}, sorted by expert; the return reads {rows, routing weights} and yields [batch,
// sequence, top_k, embed], one row for each of a token's experts.
#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/expert_rows.hpp>
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/vector_work/routed_work.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

class RaggedExchange : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    exchange(state, op, BlockState::phase_of(pass), spreads());
  }

  void backward(BlockState& state, const Operation& op) const override {
    exchange(state, op, Phase::backward, !spreads());
    state.gradients.contribute(op.inputs.front(), {state.spec(op.inputs.front()), {}}, op);
  }

  OperationWork work(const BlockState& state, const Operation& op) const override {
    const double copies = static_cast<double>(this->copies(state, op));
    const double tokens =
        vector_elements(state, tokens_of(op)) * copies / static_cast<double>(state.block.experts_per_token);
    return routed_work(state, {tokens, rows_of(op), spreads(), state.mesh.product(state.program.expert_axes) > 1});
  }

  /// Permutations come from the router.
  TensorIds read_by_gradient(const Block&, const Operation& op) const override {
    return {op.inputs.back()};
  }

  /// Rows change places twice: between devices, and into the order of the experts. Both orders exist while one is made
  /// of the other; a dispatch's gradient comes back as one row for each of a token's experts.
  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    if (!state.compiler.has(Habit::keeps_unsorted_rows)) return {};
    const Operation& op = state.block.operations[id];
    const Bytes rows = state.local(rows_of(op));
    if (!schedule.has_backward(id))
      return {{"rows in order of arrival", rows, schedule.forward[id], schedule.forward[id]}};
    std::vector<Lifetime> copies = {
        {"rows in order of arrival, gradient", rows, schedule.backward_begins[id], schedule.backward_ends[id]}};
    if (const int step = schedule.recomputed[id]; step >= 0)
      copies.push_back({"rows in order of arrival", rows, step, step});
    if (op.kind == OpKind::ragged_dispatch && state.mesh.product(state.program.expert_axes) > 1)
      copies.push_back({"rows sent back, gradient", state.local(tokens_of(op)) * this->copies(state, op),
                        schedule.backward_begins[id], schedule.backward_ends[id]});
    return copies;
  }

 protected:
  virtual TensorId rows_of(const Operation& op) const = 0;
  virtual TensorId tokens_of(const Operation& op) const = 0;
  /// Of each local token.
  virtual std::int64_t copies(const BlockState& state, const Operation& op) const = 0;
  virtual Cause cause() const = 0;
  /// Whether the forward pass brings tokens to the expert buffer, or from it.
  virtual bool spreads() const = 0;

 private:
  /// Rows that leave and enter a device, those of the expert buffer for the worst case.
  struct Rows {
    Bytes sent, received;
  };

  void exchange(BlockState& state, const Operation& op, Phase phase, bool spreads) const {
    const Bytes tokens = exchanged(state, tokens_of(op)) * copies(state, op), buffer = exchanged(state, rows_of(op));
    const Rows rows = spreads ? Rows{tokens, buffer} : Rows{buffer, tokens};
    const auto record = [&](CollectiveKind kind, Bytes bytes, GroupSpan span) {
      state.recorder.record(phase, {kind, state.program.expert_axes, bytes, false, span},
                            {state.id_of(op), tokens_of(op), cause()}, RunCount::body);
    };
    // The balanced payload: each local token goes to top_k experts.
    const std::int64_t domains = domains_of(state);
    if (domains == 1) return record(CollectiveKind::ragged_all_to_all, tokens, GroupSpan::whole);
    if (rows.sent > rows.received) return collect(rows, domains, record);
    record(CollectiveKind::all_gather, rows.sent * domains, GroupSpan::between_slices);
    record(CollectiveKind::ragged_all_to_all, std::min(rows.sent * domains, rows.received), GroupSpan::inside_slices);
  }

  /// Rows of bf16 travel as tiles of 2 x 128 where buffers are whole tiles: 2880 columns as 3072 (recorded:
  /// gptoss20bx4_v5p16_fsdp8ep2_epascp).
  static Bytes exchanged(const BlockState& state, TensorId rows) {
    const Bytes bytes = state.local(rows);
    const auto& columns = state.tensor(rows).dims.back();
    if (!state.compiler.has(Habit::pads_to_tiles) || size_of(state.tensor(rows).dtype) != 2) return bytes;
    const std::int64_t width = divided_up(columns.size, state.mesh.product(state.spec(rows).dims.back()));
    return Bytes{bytes.value / width * rounded_up(width, 2 * lanes)};
  }

  /// Inside each node into a buffer for the devices of all, between the nodes, and locally into place.
  template <class Record>
  static void collect(const Rows& rows, std::int64_t domains, const Record& record) {
    const Bytes of_all = rows.received * domains;
    record(CollectiveKind::ragged_all_to_all, std::min(rows.sent, of_all), GroupSpan::inside_slices);
    record(CollectiveKind::all_to_all, of_all, GroupSpan::between_slices);
  }

  /// Of fast links, as many as the group is in where XLA:GPU's RaggedAllToAllMultiHostDecomposer takes it apart (recorded:
  /// two of four nodes, qwen330ba3bx4_h100x32_expert8_dcnexpert2_dcnfsdp2_sparse_full; all four,
  /// qwen330ba3bx4_h100x32_expert8_dcnexpert4_sparse_full); else 1.
  static std::int64_t domains_of(const BlockState& state) {
    if (!state.compiler.has(Habit::decomposes_ragged_exchanges)) return 1;
    return state.mesh.group_size(state.program.expert_axes, GroupSpan::between_slices);
  }
};

class RaggedDispatch final : public RaggedExchange {
 public:
  PartitionSpec result_spec(const BlockState& state, const Operation& op) const override {
    return expert_rows_spec(state, op);
  }

  void settle(BlockState& state, const Operation& op) const override { settle_expert_rows(state, op); }

  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    gather_tokens(state, op, pass);
    RaggedExchange::forward(state, op, pass);
  }

 protected:
  TensorId rows_of(const Operation& op) const override { return op.output; }
  TensorId tokens_of(const Operation& op) const override { return op.inputs.front(); }
  std::int64_t copies(const BlockState& state, const Operation& op) const override {
    return state.tensor(op.inputs.back()).dims.back().size;
  }
  Cause cause() const override { return Cause::expert_dispatch; }
  bool spreads() const override { return true; }
};

class RaggedReturn final : public RaggedExchange {
 protected:
  TensorId rows_of(const Operation& op) const override { return op.inputs.front(); }
  TensorId tokens_of(const Operation& op) const override { return op.output; }
  std::int64_t copies(const BlockState&, const Operation&) const override { return 1; }
  Cause cause() const override { return Cause::expert_return; }
  bool spreads() const override { return false; }
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
