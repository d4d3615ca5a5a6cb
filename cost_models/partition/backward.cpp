// The gradients, in reverse order. Each operation contributes to the gradients of its inputs in whatever layout its
// local product has; contributions of one layout are added before they are reduced, so consumers of one tensor share a
// reduction.
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>
#include <cost_models/step/layer_stack.hpp>
#include <cost_models/step/optimizer_layout.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

void BlockPartitioner::backward(const Operation& op) {
  settle(op.output);
  switch (op.kind) {
    case OpKind::einsum:
      return backward_einsum(op);
    case OpKind::normalization:
      statistics(op, Phase::backward);
      return backward_elementwise(op);
    case OpKind::elementwise:
    case OpKind::add:
      return backward_elementwise(op);
    case OpKind::constrain:
      return contribute(op.inputs.front(), {specs_[op.output], {}}, op);
    case OpKind::attention:
      return backward_attention(op);
    case OpKind::lookup:
      return backward_lookup(op);
    case OpKind::cross_entropy:
      return contribute(op.inputs.front(), {specs_[op.inputs.front()], {}}, op);
    case OpKind::routing:
      return backward_routing(op);
    case OpKind::ragged_dispatch:
    case OpKind::ragged_return:
      exchange_rows(op, Phase::backward);
      return contribute(op.inputs.front(), {specs_[op.inputs.front()], {}}, op);
    case OpKind::ring_dispatch:
      scatter_tokens(op, Phase::backward, op.inputs.front());
      return contribute(op.inputs.front(), {specs_[op.inputs.front()], {}}, op);
    case OpKind::ring_return:
      gather_tokens(op, Phase::backward);
      return contribute(op.inputs.front(), {specs_[op.inputs.front()], {}}, op);
  }
  throw InternalError("unknown OpKind");
}

void BlockPartitioner::backward_einsum(const Operation& op) {
  backward_operand(op, 0);
  forms_.advance();  // the second product runs once the first has let go of its operands
  const AxisList axes = projection_axes(op);
  if (!axes.empty()) exchange_projection(op, axes);
  backward_operand(op, 1);
}

/// Where a circular pipeline picks its weights each iteration, the gradient of a projection onto heads is added to a
/// stack whose layout does not reach the product: the axes that split both the projection's input and its heads. XLA
/// leaves them on the input's dim (recorded for tensor parallelism, with and without fsdp).
AxisList BlockPartitioner::projection_axes(const Operation& op) const {
  const bool picked = block_.in_pipeline && program_.program->pipeline.repeats > 1 && !config_.pipeline_fsdp_ag_once &&
                      !config_.pipeline_fsdp_ag_per_repeat;
  const TensorId input = op.inputs[0], weight = op.inputs[1];
  if (!picked || !tensor(weight).parameter || tensor(weight).dims.size() != 3) return {};
  AxisList axes;
  for (const AxisId axis : split_axes(weight, {Dim::q_heads, Dim::kv_heads}))
    if (contains(split_axes(input, {Dim::embed}), axis)) axes.push_back(axis);
  return axes;
}

void BlockPartitioner::exchange_projection(const Operation& op, const AxisList& axes) {
  const TensorId weight = op.inputs[1];
  PartitionSpec whole = specs_[op.output], kept = specs_[weight];
  for (auto& dim : whole.dims) std::erase_if(dim, [&](AxisId axis) { return contains(axes, axis); });
  for (auto& dim : kept.dims) std::erase_if(dim, [&](AxisId axis) { return !contains(axes, axis); });
  forms_.use_gradient(op.output, whole, op);
  recorder_.record(Phase::backward,
                   {CollectiveKind::all_to_all, axes,
                    Bytes{local_elements(tensor(weight).dims, kept, mesh_) * size_of(config_.weight_dtype)}, true},
                   op.name, "the gradient of weight '" + tensor(weight).name + "' leaves the input's dim for its heads",
                   block_.executions);
}

/// The gradient of one operand is an einsum of the output's gradient with the other operand.
void BlockPartitioner::backward_operand(const Operation& op, int side) {
  const TensorId wanted = op.inputs[side], other = op.inputs[1 - side], output = op.output;
  if (!tensor(wanted).differentiable) return;
  const TensorId target = tensor(forms_.root(wanted)).parameter ? forms_.root(wanted) : wanted;
  const EinsumOperand gradient{&tensor(output), specs_[output]};
  const EinsumOperand factor{&tensor(other), specs_[other]};
  // Operand order: the forward lhs stays on the left.
  const bool factor_left = side == 1;
  const PartitionSpec sum = gradient_target(target);
  const EinsumPlan plan = factor_left ? plan_einsum(factor, gradient, tensor(wanted).dims, &sum, mesh_)
                                      : plan_einsum(gradient, factor, tensor(wanted).dims, &sum, mesh_);
  forms_.use_gradient(output, factor_left ? plan.rhs : plan.lhs, op);
  PartitionSpec read = factor_left ? plan.lhs : plan.rhs;
  // The gradient of a mask in slices reads all experts' rows whole, though their batch could be split (recorded).
  if (wanted == mask_slices_.first)
    for (auto& axes : read.dims) std::erase_if(axes, [&](AxisId axis) { return contains(mask_axes(), axis); });
  forms_.use(other, read, Pass::backward, op);
  if (tensor(target).parameter)
    reduce_parameter(target, plan.result, op);
  else
    contribute(wanted, plan.result, op);
}

void BlockPartitioner::backward_elementwise(const Operation& op) {
  for (const TensorId input : op.inputs) {
    if (!tensor(input).differentiable) continue;
    Layout gradient{aligned(input, op.output), {}};
    for (const AxisId axis : axes_of(specs_[op.output]))
      if (place_of(axis, gradient.spec) < 0) gradient.partial.push_back(axis);
    if (tensor(input).parameter)
      reduce_parameter(input, gradient, op);
    else
      contribute(input, gradient, op);
  }
}

/// Queries split over an axis that keys are whole on: each device has a part of the key gradient's sum.
void BlockPartitioner::backward_attention(const Operation& op) {
  forms_.use_gradient(op.output, attention_form(op.output), op);
  const PartitionSpec queries = attention_form(op.inputs.front());
  for (const TensorId input : op.inputs) {
    forms_.use(input, attention_form(input), Pass::backward, op);  // gathered again if the kernel wasn't recomputed
    Layout gradient{attention_form(input), {}};
    for (const AxisId axis : axes_of(queries))
      if (place_of(axis, gradient.spec) < 0) gradient.partial.push_back(axis);
    contribute(input, gradient, op);
  }
}

void BlockPartitioner::contribute(TensorId id, Layout layout, const Operation& op) {
  if (!tensor(id).differentiable) return;
  auto& pending = contributions_[id];
  const bool known = std::any_of(pending.begin(), pending.end(), [&](const auto& c) { return c.layout == layout; });
  if (known) return;
  if (!layout.partial.empty() || layout.spec != specs_[id])
    partial_gradients_.push_back({tensor(id).name + " gradient from " + op.name,
                                  local_bytes(tensor(id), layout.spec, mesh_), forms_.step(), forms_.step()});
  pending.push_back({std::move(layout), &op});
}

/// All consumers have contributed: bring the sum to the tensor's own layout.
void BlockPartitioner::settle(TensorId id) {
  for (const auto& [layout, op] : contributions_[id])
    recorder_.record_all(
        Phase::backward, reshard(tensor(id), layout, gradient_target(id), mesh_), op->name,
        layout.partial.empty()
            ? "gradient of '" + tensor(id).name + "' goes back to the layout of its constraint"
            : "gradient of '" + tensor(id).name + "' is summed over " + recorder_.axis_names(layout.partial),
        block_.executions);
  contributions_[id].clear();
}

PartitionSpec BlockPartitioner::gradient_target(TensorId id) const {
  if (id == mask_slices_.first) return mask_slices_.second;
  return tensor(id).parameter ? gradient_spec(tensor(id), specs_[id], block_, program_, config_) : specs_[id];
}

/// Weight gradients are partial sums over every axis that splits tokens: scattered where their target is sharded by the
/// axis, then the shard is all-reduced over the rest (data).
void BlockPartitioner::reduce_parameter(TensorId parameter, const Layout& gradient, const Operation& op) {
  if (block_.in_pipeline && config_.pipeline_fsdp_ag_per_repeat) return reduce_each_repeat(parameter, gradient, op);
  sum_parameter(parameter, gradient, gradient_target(parameter), op);
}

/// The gather of a repeat's weights is a shard_map whose gradient is a reduce-scatter. Outside of it the compiler wants
/// the gradient summed already, once a repeat and once more for the iterations that drain the pipeline (recorded).
void BlockPartitioner::reduce_each_repeat(TensorId parameter, const Layout& gradient, const Operation& op) {
  const PipelineShape& pipeline = program_.program->pipeline;
  recorder_.record_all(Phase::backward, reshard(tensor(parameter), gradient, gradient.spec, mesh_), op.name,
                       "pipeline_fsdp_ag_per_repeat: the gradient of a repeat's weight '" + tensor(parameter).name +
                           "' is summed before the gather's own gradient scatters it",
                       block_.weights.reductions / pipeline.repeats * (pipeline.repeats + 1));
  Layout scattered = gradient;
  std::erase_if(scattered.partial, [&](AxisId axis) { return !contains(axes_of(specs_[parameter]), axis); });
  sum_parameter(parameter, scattered, specs_[parameter], op);
}

void BlockPartitioner::sum_parameter(TensorId parameter, const Layout& gradient, const PartitionSpec& target,
                                     const Operation& op) {
  partial_gradients_.push_back({tensor(parameter).name + " gradient, before reduction",
                                local_bytes(tensor(parameter), gradient.spec, mesh_), forms_.step(), forms_.step()});
  auto moves = reshard(tensor(parameter), gradient, target, mesh_);
  // Explicit pipelines whose layer stack moves sum after the cast (recorded).
  if (block_.in_pipeline && config_.shard_mode_explicit && moves_layer_stack(program_.program->pipeline, config_))
    for (auto& move : moves) move.bytes = move.bytes * (size_of(config_.weight_dtype) / size_of(config_.dtype));
  const std::string why = "gradient of weight '" + tensor(parameter).name +
                          "' is summed over the axes that split its tokens: " + recorder_.axis_names(gradient.partial);
  for (const auto& move : moves)
    recorder_.record(
        Phase::backward, move, op.name, why,
        move.kind == CollectiveKind::all_reduce ? block_.weights.whole_reductions : block_.weights.reductions);
}

}  // namespace shardplan
