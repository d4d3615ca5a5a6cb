// Tokens on the move: embedding lookup, routing side traffic, and the dispatch of tokens to experts
// (SHARDING.md 2.4, 3.1).
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>

namespace shardplan {
namespace {

AxisList in_mesh_order(AxisList axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

AxisList without(AxisList axes, const AxisList& gone) {
  std::erase_if(axes, [&](AxisId axis) { return contains(gone, axis); });
  return axes;
}

AxisList common(const AxisList& a, const AxisList& b) {
  AxisList both;
  for (const AxisId axis : a)
    if (contains(b, axis)) both.push_back(axis);
  return both;
}

}  // namespace

/// What the local lookup yields: each device looks all tokens of the table's group up in its own columns (and, where
/// the vocabulary is split, finds only some of them: a partial sum).
Layout BlockPartitioner::lookup_layout(const Operation& op) const {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const AxisList held = axes_of(specs_[table]);
  Layout layout;
  for (const auto& dim : tensor(op.output).dims) {
    if (dim.dim == Dim::embed) layout.spec.dims.push_back(split_axes(table, {Dim::embed}));
    if (dim.dim != Dim::embed) layout.spec.dims.push_back(without(split_axes(ids, {dim.dim}), held));
  }
  layout.partial = split_axes(table, {Dim::vocab});
  return layout;
}

/// Columns become rows by one all-to-all where one dim's axes go to one dim. Where they go to several the compiler
/// gathers all of one side: the looked-up columns, or the table if that is smaller (recorded for both sizes of
/// vocabulary).
bool BlockPartitioner::gathers_table(const Operation& op) const {
  const TensorId table = op.inputs[0];
  Bytes columns;
  for (const auto& move : reshard(tensor(op.output), lookup_layout(op), specs_[op.output], mesh_))
    if (move.kind == CollectiveKind::all_gather) columns += move.bytes;
  return columns > local(table) * mesh_.product(split_axes(table, {Dim::embed}));
}

void BlockPartitioner::forward_lookup(const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  if (gathers_table(op)) {
    PartitionSpec whole = specs_[table];
    for (auto& axes : whole.dims) axes = without(axes, split_axes(ids, {Dim::batch, Dim::sequence}));
    return forms_.use(table, whole, Pass::forward, op);
  }
  const AxisList shared = common(axes_of(specs_[ids]), axes_of(specs_[table]));
  recorder_.record(Phase::forward,
                   {CollectiveKind::all_gather, in_mesh_order(shared), local(ids) * mesh_.product(shared)}, op.name,
                   "every device looks all token ids up in its own columns of the table", block_.executions);
  recorder_.record_all(Phase::forward, reshard(tensor(op.output), lookup_layout(op), specs_[op.output], mesh_), op.name,
                       "looked-up columns of all tokens become whole rows of this device's tokens", block_.executions);
}

/// ZeRO-1 wants rows of the table's gradient on each data shard: it looks through all tokens' rows for its own, unless
/// the table is smaller than they are; then the whole table is summed and sliced (recorded for both).
bool BlockPartitioner::gathers_rows(const Operation& op) const {
  const TensorId table = op.inputs[0];
  if (gradient_target(table) == specs_[table] || !common(axes_of(specs_[op.inputs[1]]), axes_of(specs_[table])).empty())
    return false;
  return local(op.output) * mesh_.product(axes_of(specs_[op.inputs[1]])) < local(table);
}

void BlockPartitioner::backward_lookup(const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  if (gathers_table(op)) {
    Layout gradient{specs_[table], split_axes(ids, {Dim::batch, Dim::sequence})};
    for (auto& axes : gradient.spec.dims) axes = without(axes, gradient.partial);
    return reduce_parameter(table, gradient, op);
  }
  if (gathers_rows(op)) {
    const AxisList tokens = in_mesh_order(axes_of(specs_[ids]));
    return recorder_.record(
        Phase::backward, {CollectiveKind::all_gather, tokens, local(op.output) * mesh_.product(tokens)}, op.name,
        "each data shard of the table's gradient takes its rows from all tokens'", block_.executions);
  }
  const Layout columns = lookup_layout(op);
  recorder_.record_all(Phase::backward, reshard(tensor(op.output), {specs_[op.output], {}}, columns.spec, mesh_),
                       op.name, "rows of this device's tokens become columns for the table's gradient",
                       block_.executions);
  sum_parameter(table, {specs_[table], without(axes_of(specs_[ids]), axes_of(specs_[table]))}, specs_[table], op);
}

// Recorded: the scatter indices [batch, sequence, k, 3] and the expert counts are global integers, so they grow with
// the global batch; the routing weights [batch, sequence, experts] are reduced after their scatter.
void BlockPartitioner::routing_traffic(const Operation& op, Phase phase) {
  const TensorId logits = op.inputs.front();
  const AxisList tokens = in_mesh_order(split_axes(logits, {Dim::batch, Dim::sequence}));
  const std::int64_t batch = tensor(logits).dims[0].size, sequence = tensor(logits).dims[1].size;
  const std::int64_t k = tensor(op.output).dims.back().size;
  const auto note = [&](CollectiveKind kind, std::int64_t bytes, const char* what, const char* why) {
    recorder_.record(phase, {kind, tokens, Bytes{bytes}}, op.name + "/" + what, why, block_.executions);
  };
  note(CollectiveKind::all_gather, batch * sequence * k * 3 * 4, "scatter_indices",
       "scatter indices (batch, sequence, expert) of all tokens");
  note(CollectiveKind::all_reduce, batch * sequence * tensor(logits).dims[2].size * 2, "scatter_weights",
       "routing weights scattered into a global [batch, sequence, experts]");
  note(CollectiveKind::all_gather, batch * sequence * k * 4, "expert_ids", "expert ids of all tokens");
}

void BlockPartitioner::backward_routing(const Operation& op) {
  const TensorId logits = op.inputs.front();
  const AxisList tokens = in_mesh_order(split_axes(logits, {Dim::batch, Dim::sequence}));
  recorder_.record(Phase::backward, {CollectiveKind::all_gather, tokens, local(logits) * mesh_.product(tokens)},
                   op.name + "/routing_gradient", "gradient of the scattered routing weights, all tokens",
                   block_.executions);
  contribute(logits, {specs_[logits], {}}, op);
}

/// Rows [experts, rows, embed]: experts over the expert axes, rows over whatever else splits tokens.
PartitionSpec BlockPartitioner::rows_spec(const Operation& op) const {
  const TensorId tokens = op.inputs.front();
  PartitionSpec spec;
  spec.dims = {program_.expert_axes,
               in_mesh_order(without(split_axes(tokens, {Dim::batch, Dim::sequence}), program_.expert_axes)),
               split_axes(tokens, {Dim::embed})};
  return spec;
}

/// Ragged all-to-all of rows; `bytes` is the balanced payload: each local token goes to top_k experts.
void BlockPartitioner::exchange_rows(const Operation& op, Phase phase) {
  const bool dispatch = op.kind == OpKind::ragged_dispatch;
  const TensorId tokens = dispatch ? op.inputs.front() : op.output;
  // Dispatch reads {tokens, routing weights [batch, sequence, top_k]}; the return yields [batch, sequence, top_k,
  // embed].
  const std::int64_t copies = dispatch ? tensor(op.inputs.back()).dims.back().size : 1;
  const Bytes payload = local(tokens) * copies;
  recorder_.record(
      phase, {CollectiveKind::ragged_all_to_all, program_.expert_axes, payload}, op.name,
      dispatch ? "tokens go to the devices of their experts" : "expert outputs go back to their tokens' devices",
      block_.executions);
}

void BlockPartitioner::gather_tokens(const Operation& op, Phase phase) {
  const std::int64_t group = mesh_.product(program_.expert_axes);
  const bool dispatch = op.kind == OpKind::ring_dispatch;
  const auto note = [&](TensorId id, const char* why) {
    recorder_.record(phase, {CollectiveKind::all_gather, program_.expert_axes, local(id) * group},
                     op.name + "/" + tensor(id).name, why, block_.executions);
  };
  if (!dispatch)
    return note(op.output, "gradient of the combined output: every expert device needs all tokens of its group");
  for (const TensorId input : op.inputs) note(input, "every expert device needs all tokens of its group");
}

void BlockPartitioner::scatter_tokens(const Operation& op, Phase phase, TensorId tokens) {
  const std::int64_t group = mesh_.product(program_.expert_axes);
  const auto note = [&](TensorId id) {
    recorder_.record(phase, {CollectiveKind::reduce_scatter, program_.expert_axes, local(id) * group},
                     op.name + "/" + tensor(id).name, "each expert device has a part of every token's sum",
                     block_.executions);
  };
  note(tokens);
  if (op.kind == OpKind::ring_dispatch && op.inputs.size() > 1) note(op.inputs[1]);
}

}  // namespace shardplan
