// Products: inputs {lhs, rhs}. The gradient of one operand is an einsum of the result's gradient with the other operand.
#include <algorithm>
#include <cost_models/operations/dense_ragged_dot.hpp>
#include <cost_models/operations/expert_masks.hpp>
#include <cost_models/operations/narrow_operands.hpp>
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <cost_models/partition/products/einsum_plan.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/moves/emitted_kinds.hpp>
#include <cost_models/moves/reshard.hpp>

namespace shardplan {
namespace {

/// Dispatch and combine are products for each sequence; the experts' products want [expert, sequences, …]. With several
/// sequences on a device the rows are written in the other order.
void add_expert_order(OperationWork& work, const BlockState& state, const Operation& op) {
  const TensorId mask = op.inputs[1];
  if (!is_mask(state.tensor(mask))) return;
  const TensorId rows = is_expert_rows(state.tensor(op.output)) ? op.output : op.inputs[0];
  const Tensor& of_mask = state.tensor(mask);
  const std::int64_t sequences = of_mask.dims[0].size / state.mesh.product(state.spec(mask).dims[0]);
  if (sequences > 1) add_vector_work(work, state, VectorKernel::expert_order, rows);
}

/// Where a circular pipeline picks its weights each iteration, the gradient of a projection onto heads is added to a
/// stack whose layout does not reach the product: the axes that split both the projection's input and its heads. XLA
/// leaves them on the input's dim (recorded for tensor parallelism, with and without fsdp).
AxisList projection_axes(const BlockState& state, const Operation& op) {
  const bool picked = state.block.in_pipeline && state.program.program->pipeline.repeats > 1 &&
                      !state.config.pipeline_fsdp_ag_once && !state.config.pipeline_fsdp_ag_per_repeat;
  const TensorId input = op.inputs[0], weight = op.inputs[1];
  if (!picked || !state.compiler.has(Habit::exchanges_picked_projections)) return {};
  if (!state.tensor(weight).parameter || state.tensor(weight).dims.size() != 3) return {};
  AxisList axes;
  for (const AxisId axis : state.split_axes(weight, {Dim::q_heads, Dim::kv_heads}))
    if (state.split_axes(input, {Dim::embed}).contains(axis)) axes.push_back(axis);
  return axes;
}

void exchange_projection(BlockState& state, const Operation& op, const AxisList& axes) {
  const TensorId weight = op.inputs[1];
  const PartitionSpec whole = without_axes(state.spec(op.output), axes);
  PartitionSpec kept = state.spec(weight);
  for (AxisList& dim : kept.dims) dim = common(dim, axes);
  state.forms.use_gradient(op.output, whole, op);
  const Bytes bytes{local_elements(state.tensor(weight).dims, kept, state.mesh) * size_of(state.config.weight_dtype)};
  state.recorder.record(Phase::backward, {CollectiveKind::all_to_all, axes, bytes, true},
                        {state.id_of(op), weight, Cause::heads_of_weight_gradient, {}, state.spec(weight)},
                        RunCount::body);
}

/// Of a weight gradient whose sum is made whole: axes that split a dim of one operand alone leave it (recorded on v5p under
/// fsdp_transpose and tensor: qwen38bx4_v5p16_tp4ft4_savedot, llama27bx4_v5p16_data4tp2ft2).
void make_operands_whole(const BlockState& state, EinsumPlan& plan, const Tensor& lhs, const Tensor& rhs,
                         const Tensor& weight, const PartitionSpec& sum) {
  const bool by_size = state.compiler.has(Habit::lays_out_products_by_size);
  if (by_size || !weight.parameter || !state.compiler.has(Habit::sums_unmatched_shards_whole)) return;
  if (has(lhs, Dim::rows) || has(rhs, Dim::rows)) return;  // inside a shard_map
  const auto unmatched = [&](const AxisList& dim) { return is_unmatched(dim, plan.result.partial); };
  if (std::none_of(sum.dims.begin(), sum.dims.end(), unmatched)) return;
  AxisList lone;
  for (std::size_t i = 0; i < weight.dims.size(); ++i)
    if (!has(lhs, weight.dims[i].dim) || !has(rhs, weight.dims[i].dim)) lone.append(plan.result.spec.dims[i]);
  plan.lhs = without_axes(plan.lhs, lone);
  plan.rhs = without_axes(plan.rhs, lone);
  plan.result.spec = without_axes(plan.result.spec, lone);
}

/// Operand order: the forward lhs stays on the left.
void backward_operand(BlockState& state, const Operation& op, int side) {
  const TensorId wanted = op.inputs[side], other = op.inputs[1 - side], output = op.output;
  if (!state.tensor(wanted).differentiable) return;
  const TensorId root = state.forms.root(wanted), target = state.tensor(root).parameter ? root : wanted;
  const EinsumOperand gradient{&state.tensor(output), state.spec(output)};
  const EinsumOperand factor{&state.tensor(other), state.spec(other)};
  const bool factor_left = side == 1;
  const PartitionSpec sum = state.gradients.of_product(target);
  const EinsumPlan& plan = state.gradient_plan(op, side, sum, [&] {
    EinsumPlan all = plan_einsum(factor_left ? factor : gradient, factor_left ? gradient : factor,
                                 state.tensor(wanted).dims, &sum, state.mesh, state.compiler);
    make_operands_whole(state, all, *factor.tensor, *gradient.tensor, state.tensor(target), sum);
    return all;
  });
  const bool by_size = state.compiler.has(Habit::lays_out_products_by_size);
  if (wanted == state.masks.mask && !by_size && state.compiler.has(Habit::gathers_mask_gradients)) {
    gather_mask_gradient(state, op, factor_left ? plan.rhs : plan.lhs);
    return state.gradients.contribute(wanted, {state.masks.spec, {}}, op, false);
  }
  state.forms.make_weight_gradient(state.tensor(target).parameter);
  const auto& [left_groups, right_groups] = plan.groups;
  use_result_gradient(state, op, side, factor_left ? plan.rhs : plan.lhs, factor_left ? right_groups : left_groups);
  PartitionSpec read = factor_left ? plan.lhs : plan.rhs;
  Layout made = plan.result;
  // The gradient of a mask in slices reads all experts' rows whole, though their batch could be split (recorded); not where
  // products are laid out by size (recorded on 7x: mixtral8x7bx3_7x16_cpasep_fsdp2cp2ep4).
  if (side == 1 && is_combine(state, op) && !by_size && !state.compiler.has(Habit::gathers_mask_gradients)) {
    read = without_axes(read, state.split_axes(other, {Dim::experts}));
    made.spec.dims[index_of(state.tensor(wanted).dims, Dim::experts)] = {};
  }
  use_factor(state, op, side, read, factor_left ? left_groups : right_groups);
  state.forms.make_weight_gradient(false);
  if (state.tensor(target).parameter)
    state.gradients.reduce_constrained(target, wanted, made, op);
  else
    state.gradients.contribute(wanted, std::move(made), op, plan.sums_apart);
  if (wanted == state.masks.mask && by_size) exchange_mask_gradient(state, op);
}

/// Before the input's gradient, while the weight is still gathered: that of a head which is all-reduced (recorded:
/// ll8_v6e16_b3x8192, gm2_9bx8_v5p8_minctx), unless it is left for the end of the step. Reduce-scattered it comes behind
/// (gm3_12b_v6e8_full, ll8_v6e8_fsdp8_act_offload).
bool weight_gradient_first(const BlockState& state, const Operation& op) {
  if (state.block.kind != BlockKind::head || state.compiler.has(Habit::defers_head_gradient)) return false;
  const AxisList tokens = state.split_axes(op.inputs[0], {Dim::batch, Dim::sequence});
  const TensorId weight = op.inputs[1];
  return !is_reduce_scattered(state.tensor(weight), state.spec(weight), tokens, state.mesh, state.compiler);
}

/// Share of the rows in an expert buffer that are multiplied: the balanced ones; or, where ragged_dot is computed
/// densely, all of them by every local expert.
double computed_share(const BlockState& state, const Operation& op) {
  if (!has(state.tensor(op.output), Dim::rows)) return 1;
  if (!is_dense_ragged_dot(state, op)) return state.block.row_occupancy;
  return local_experts(state.block, op, state.program);
}

/// The grouped product's kernel reads weights row by row. One that lies the other way round, because its shard's columns
/// don't fill whole tiles, is gathered so and turned: both exist for a step (recorded: envybase_v5p8_fsdp8,
/// gptoss20bx4_v5p8_fsdp8: wo with 192 and 360 columns a device).
std::vector<Lifetime> turned_weight(const BlockState& state, const Schedule& schedule, OperationId id) {
  const Operation& op = state.block.operations[id];
  const int step = schedule.recomputed[id];
  if (!has(state.tensor(op.output), Dim::rows) || step < 0 || !state.compiler.has(Habit::pads_to_tiles)) return {};
  const TensorId weight = state.forms.root(op.inputs[1]);
  const Tensor& tensor = state.tensor(weight);
  const PartitionSpec gathered = state.product_plan(op).rhs;
  if (!tensor.parameter || gathered == state.spec(weight)) return {};
  if (row_elements(tensor, state.spec(weight), state.mesh) <=
      stored_elements(tensor, state.spec(weight), state.mesh, state.compiler))
    return {};
  return {{{weight, ", gathered as it lies"}, stored_bytes(tensor, gathered, state.mesh, state.compiler), step, step}};
}

/// As MaxText's layers/moe.py hands them to megablox: `wo` contracts what the two others make.
GroupedTiles kernel_tiles(const TrainConfig& c, bool contracts_mlp) {
  GroupedTiles tiles;
  tiles.are_tuned = c.use_tokamax_gmm;
  tiles.forward = {c.wi_tile_fwd_batch_seq, c.wi_tile_fwd_embed_dim, c.wi_tile_fwd_mlp_dim};
  tiles.input_gradient = {c.wi_tile_dlhs_batch_seq, c.wi_tile_dlhs_mlp_dim, c.wi_tile_dlhs_embed_dim};
  tiles.weight_gradient = {c.wi_tile_drhs_batch_seq, c.wi_tile_drhs_embed_dim, c.wi_tile_drhs_mlp_dim};
  if (!contracts_mlp) return tiles;
  tiles.forward = {c.wo_tile_fwd_batch_seq, c.wo_tile_fwd_mlp_dim, c.wo_tile_fwd_embed_dim};
  tiles.input_gradient = {c.wo_tile_dlhs_batch_seq, c.wo_tile_dlhs_embed_dim, c.wo_tile_dlhs_mlp_dim};
  tiles.weight_gradient = {c.wo_tile_drhs_batch_seq, c.wo_tile_drhs_mlp_dim, c.wo_tile_drhs_embed_dim};
  return tiles;
}

/// The narrow part of a product's work, and what it takes to narrow the operands.
void add_narrow_work(OperationWork& work, const NarrowWork& narrow, DType dtype) {
  work.narrow_dtype = dtype;
  if (narrow.forward) work.narrow_forward = work.forward;
  work.narrow_backward = work.forward * static_cast<double>(narrow.gradients);
  work.vector_forward += narrow.narrowing_forward;
  work.vector_backward += narrow.narrowing_backward;
}

class Einsum final : public OperationKind {
 public:
  /// Inside the expert shard_map a partial sum is scattered over the feature dim (SHARDING.md 2.4, step 3).
  PartitionSpec result_spec(const BlockState& state, const Operation& op) const override {
    Layout natural = state.product_plan(op).result;
    if (has(state.tensor(op.output), Dim::rows))
      natural.spec.dims.back().append(natural.partial);
    return std::move(natural.spec);
  }

  void prepare(BlockState& state, const Operation& op) const override {
    if (!is_combine(state, op) || !state.compiler.has(Habit::slices_combine_masks)) return;
    PartitionSpec sliced = state.product_plan(op).rhs;
    if (sliced != state.spec(op.inputs[1])) state.masks = {op.inputs[1], std::move(sliced), natural_logits(state)};
  }

  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    const EinsumPlan& plan = state.product_plan(op);
    use_operand(state, op, 0, plan, pass);
    use_operand(state, op, 1, plan, pass);
    gather_dispatch_mask(state, op, pass);
    const PartitionSpec made = state.masks.exist() && is_router(state, op) ? state.masks.logits : state.spec(op.output);
    if (!has_to_move(plan.result, made)) return;
    const Cause cause = plan.result.partial.empty() ? Cause::result_layout : Cause::contracted_dim_split;
    state.recorder.record_all(BlockState::phase_of(pass),
                              reshard(state.tensor(op.output), plan.result, made, state.mesh, state.compiler),
                              {state.id_of(op), op.output, cause, plan.result, made}, RunCount::body);
  }

  /// The input's gradient, which others wait for, then the weight's; of some heads the other way round.
  void backward(BlockState& state, const Operation& op) const override {
    const bool weight_first = weight_gradient_first(state, op);
    backward_operand(state, op, weight_first ? 1 : 0);
    if (state.is_weight_gradient_late(op)) return;
    state.forms.advance();  // the second product runs once the first has let go of its operands
    const AxisList axes = projection_axes(state, op);
    if (!axes.empty()) exchange_projection(state, op, axes);
    backward_operand(state, op, weight_first ? 0 : 1);
  }

  void late_backward(BlockState& state, const Operation& op) const override { backward_operand(state, op, 1); }

  /// The gradient of each operand reads the other.
  TensorIds read_by_gradient(const Block& block, const Operation& op) const override {
    TensorIds reads;
    for (int side = 0; side < 2; ++side)
      if (block.tensors[op.inputs[1 - side]].differentiable) reads.push_back(op.inputs[side]);
    return reads;
  }

  int copies_input(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    return is_dense_ragged_dot(state, state.block.operations[id]) ? expands_operand(state, schedule, id) : -1;
  }

  int writes_input_gradient(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    const bool weights_first = is_dense_ragged_dot(state, state.block.operations[id]);
    return weights_first ? schedule.backward_ends[id] : schedule.backward_begins[id];
  }

  int gradient_ends(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    const bool expands = is_dense_ragged_dot(state, state.block.operations[id]);
    return expands ? plain_gradient_ends(state, schedule, id) : schedule.backward_ends[id];
  }

  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    if (is_dense_ragged_dot(state, state.block.operations[id])) return expanded_operands(state, schedule, id);
    return turned_weight(state, schedule, id);
  }

  /// 2·Π of the local sizes forward; backward one product of that size for each operand that has a gradient.
  OperationWork work(const BlockState& state, const Operation& op) const override {
    const EinsumPlan& plan = state.product_plan(op);
    const std::int64_t gradients = std::count_if(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
      return state.tensor(input).differentiable;
    });
    OperationWork work;
    const bool grouped = has(state.tensor(op.output), Dim::rows) && !is_dense_ragged_dot(state, op);
    work.kind = grouped ? WorkKind::grouped_matmul : WorkKind::matmul;
    work.shape = plan.shape;
    if (grouped) {
      work.shape.m *= work.shape.groups * computed_share(state, op);
      work.tiles = kernel_tiles(state.config, state.tensor(op.inputs[0]).dims.back().dim == Dim::mlp);
    }
    work.gradients = gradients;
    work.forward = plan.shape.flops() * computed_share(state, op);
    work.forward_traffic = local_bytes(state.tensor(op.inputs[0]), plan.lhs, state.mesh) +
                           local_bytes(state.tensor(op.inputs[1]), plan.rhs, state.mesh) +
                           local_bytes(state.tensor(op.output), plan.result.spec, state.mesh);
    work.backward = work.forward * static_cast<double>(gradients);
    work.backward_traffic = work.forward_traffic * gradients;
    if (op.narrow) add_narrow_work(work, narrow_work(state, op), op.narrow->operands);
    add_expert_order(work, state, op);
    if (is_dense_ragged_dot(state, op)) add_expanded_rows(work, state, op);
    return work;
  }
};

}  // namespace

const OperationKind& einsum_kind() {
  static const Einsum kind;
  return kind;
}

}  // namespace shardplan
