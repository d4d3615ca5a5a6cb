// Shardings forward through the block, and the collectives of each operation's forward run (first run or
// recomputation).
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

int index_of(const std::vector<TensorDim>& dims, Dim dim) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i].dim == dim) return static_cast<int>(i);
  return -1;
}

}  // namespace

/// Gives the output of an unconstrained operation the sharding that its inputs imply.
void BlockPartitioner::propagate(const Operation& op) {
  if (bound_specs_[op.output]) return;
  switch (op.kind) {
    case OpKind::einsum: {
      const Layout natural = forward_plan(op).result;
      specs_[op.output] = natural.spec;
      // Inside the expert shard_map a partial sum is scattered over the feature dim (SHARDING.md 2.4, step 3).
      const bool rows = index_of(tensor(op.output).dims, Dim::rows) >= 0;
      if (rows)
        specs_[op.output].dims.back().insert(specs_[op.output].dims.back().end(), natural.partial.begin(),
                                             natural.partial.end());
      return;
    }
    case OpKind::ragged_dispatch:
    case OpKind::ring_dispatch:
      specs_[op.output] = rows_spec(op);
      return;
    case OpKind::elementwise:
    case OpKind::add:
    case OpKind::normalization:
    case OpKind::constrain:
    case OpKind::attention:
    case OpKind::lookup:
    case OpKind::cross_entropy:
    case OpKind::routing:
    case OpKind::ragged_return:
    case OpKind::ring_return:
      specs_[op.output] = aligned(op.inputs.front(), op.output);
      return;
  }
  throw InternalError("unknown OpKind");
}

/// [experts, batch, capacity, …]
bool BlockPartitioner::is_expert_rows(TensorId id) const { return index_of(tensor(id).dims, Dim::experts) >= 0; }

bool BlockPartitioner::is_mask(TensorId id) const {
  return index_of(tensor(id).dims, Dim::capacity) >= 0 && index_of(tensor(id).dims, Dim::sequence) >= 0;
}

/// Where the combine reads its mask in slices, masks are made in slices, and so is its gradient; who reads one whole
/// gathers it (recorded).
void BlockPartitioner::slice_masks(const Operation& op) {
  const bool combines = op.kind == OpKind::einsum && is_mask(op.inputs[1]) && !is_expert_rows(op.output);
  if (!combines) return;
  const PartitionSpec sliced = forward_plan(op).rhs;
  if (sliced != specs_[op.inputs[1]]) mask_slices_ = {op.inputs[1], sliced};
}

/// By which masks are made in slices, though no constraint says so; none where the combine reads its mask whole.
AxisList BlockPartitioner::mask_axes() const {
  const auto& [mask, sliced] = mask_slices_;
  AxisList axes;
  for (const AxisId axis : mask < 0 ? AxisList{} : axes_of(sliced))
    if (place_of(axis, specs_[mask]) < 0) axes.push_back(axis);
  return axes;
}

/// A dispatch that reads its mask whole gathers what was made in slices.
void BlockPartitioner::gather_mask(const Operation& op, Pass pass) {
  if (mask_slices_.first < 0 || !is_mask(op.inputs[1]) || !is_expert_rows(op.output)) return;
  recorder_.record(phase_of(pass), {CollectiveKind::all_gather, mask_axes(), local(op.inputs[1])}, op.name + "/mask",
                   "masks are made in the slices that the combine reads; the dispatch needs all of its own",
                   block_.executions);
}

void BlockPartitioner::forward(const Operation& op, Pass pass) {
  switch (op.kind) {
    case OpKind::einsum:
      return forward_einsum(op, pass);
    case OpKind::elementwise:
    case OpKind::add:
      return forward_elementwise(op, pass);
    case OpKind::normalization:
      forward_elementwise(op, pass);
      return statistics(op, phase_of(pass));
    case OpKind::constrain:
      return;  // resharding happens when somebody reads the result
    case OpKind::attention:
      return forward_attention(op, pass);
    case OpKind::lookup:
      return forward_lookup(op);
    case OpKind::cross_entropy:
      return statistics(op, phase_of(pass));
    case OpKind::routing:
      return routing_traffic(op, phase_of(pass));
    case OpKind::ragged_dispatch:
    case OpKind::ragged_return:
      return exchange_rows(op, phase_of(pass));
    case OpKind::ring_dispatch:
      return gather_tokens(op, phase_of(pass));
    case OpKind::ring_return:
      return scatter_tokens(op, phase_of(pass), op.output);
  }
  throw InternalError("unknown OpKind");
}

EinsumPlan BlockPartitioner::forward_plan(const Operation& op) const {
  const TensorId lhs = op.inputs[0], rhs = op.inputs[1];
  return plan_einsum({&tensor(lhs), specs_[lhs]}, {&tensor(rhs), specs_[rhs]}, tensor(op.output).dims,
                     bound_specs_[op.output] ? &specs_[op.output] : nullptr, mesh_);
}

void BlockPartitioner::forward_einsum(const Operation& op, Pass pass) {
  const EinsumPlan plan = forward_plan(op);
  forms_.use(op.inputs[0], plan.lhs, pass, op);
  forms_.use(op.inputs[1], plan.rhs, pass, op);
  gather_mask(op, pass);
  const auto moves = reshard(tensor(op.output), plan.result, specs_[op.output], mesh_);
  if (moves.empty()) return;
  const bool sums = !plan.result.partial.empty();
  recorder_.record_all(phase_of(pass), moves, op.name,
                       sums ? "the contracted dim is split over " + recorder_.axis_names(plan.result.partial) +
                                  ": each device holds a partial sum of '" + tensor(op.output).name + "'"
                            : "'" + tensor(op.output).name + "' is computed on " +
                                  recorder_.axis_names(axes_of(plan.result.spec)) +
                                  " and its constraint wants it elsewhere",
                       block_.executions);
}

/// `input`'s dims laid out as the output's dims of the same name; dims that the output lacks stay whole.
PartitionSpec BlockPartitioner::aligned(TensorId input, TensorId output) const {
  const bool towards_input = !bound_specs_[output] && specs_[output].dims.empty();
  const TensorId from = towards_input ? input : output, to = towards_input ? output : input;
  PartitionSpec spec;
  for (const auto& dim : tensor(to).dims) {
    const int place = index_of(tensor(from).dims, dim.dim);
    spec.dims.push_back(place < 0 ? AxisList{} : specs_[from].dims[place]);
  }
  return spec;
}

void BlockPartitioner::forward_elementwise(const Operation& op, Pass pass) {
  for (const TensorId input : op.inputs) forms_.use(input, aligned(input, op.output), pass, op);
}

/// Norm and softmax statistics: a float32 number a token, reduced over the axes that split the feature dim.
void BlockPartitioner::statistics(const Operation& op, Phase phase) {
  const TensorId input = op.inputs.front();
  const AxisList axes = split_axes(input, {Dim::embed, Dim::vocab, Dim::mlp, Dim::q_rank, Dim::kv_rank});
  if (axes.empty()) return;
  Tensor statistic = tensor(input);
  statistic.dims.pop_back();
  statistic.dtype = DType::f32;
  PartitionSpec spec = specs_[input];
  spec.dims.pop_back();
  recorder_.record(phase, {CollectiveKind::all_reduce, axes, local_bytes(statistic, spec, mesh_)}, op.name,
                   "statistics over a feature dim that is split over " + recorder_.axis_names(axes), block_.executions);
}

// An attention kernel inside shard_map works on the shards that its constraints give it. Outside of one (XLA:GPU with
// attention=flash or autoselected) the compiler can't split it: operands are gathered whole.
PartitionSpec BlockPartitioner::attention_form(TensorId input) const {
  const bool opaque =
      compiler_.has(Habit::attention_outside_shard_map) && (config_.attention == "flash" || config_.attention == "autoselected");
  if (!opaque) return specs_[input];
  PartitionSpec whole;
  whole.dims.resize(specs_[input].dims.size());
  return whole;
}

void BlockPartitioner::forward_attention(const Operation& op, Pass pass) {
  for (const TensorId input : op.inputs) forms_.use(input, attention_form(input), pass, op);
  const TensorId query = op.inputs.front();
  if (attention_form(query) == specs_[query]) return;
  Tensor mask{"attention mask", {}, DType::pred, {}, false, false, {}};
  mask.dims = {
      tensor(query).dims[0], {Dim::sequence, program_.program->sequence}, {Dim::position, program_.program->sequence}};
  recorder_.record(
      phase_of(pass),
      {CollectiveKind::all_gather, split_axes(query, {Dim::batch}), local_bytes(mask, {{{}, {}, {}}}, mesh_)}, op.name,
      "the attention kernel is not inside shard_map, so its mask is gathered too", block_.executions);
}

}  // namespace shardplan
