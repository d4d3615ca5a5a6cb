#include <algorithm>
#include <cost_models/operations/narrow_operands.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <shardplan/error.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// The program writes weights on the right (OpKind::einsum).
constexpr int weight_side = 1;

bool is_narrow(const Operation& op, int side) {
  return op.narrow && (side == weight_side ? op.narrow->weight : op.narrow->activation);
}

bool is_narrow_gradient(const Operation& op, int wanted) {
  return op.narrow && (wanted == weight_side ? op.narrow->weight_gradient : op.narrow->input_gradient);
}

Scaling scaling_of(const NarrowProduct& narrow, int side) {
  return side == weight_side ? narrow.weight_scaling : narrow.activation_scaling;
}

/// A gradient reads what the product read, unless it narrows for itself; AQT's own is the same product in wide numbers
/// where it doesn't narrow.
Numbers numbers_of_factor(const Operation& op, int wanted) {
  if (!is_narrow(op, 1 - wanted)) return Numbers::wide;
  if (op.narrow->turns_weight && 1 - wanted == weight_side) return Numbers::narrow_again;
  if (!op.narrow->narrows_again) return Numbers::narrow;
  return is_narrow_gradient(op, wanted) ? Numbers::narrow_again : Numbers::wide;
}

/// The gradient of the result for either product: one scale a tensor serves both, channels don't.
Numbers numbers_of_gradient(const Operation& op, int wanted) {
  if (!is_narrow_gradient(op, wanted)) return Numbers::wide;
  const bool shared = op.narrow->gradient_scaling != Scaling::channelwise;
  return wanted == weight_side && !shared ? Numbers::narrow_again : Numbers::narrow;
}

/// The largest number of each channel of `tensor`, the dims that `other` contracts with it together, over the axes that
/// split those: an all-reduce of the channels. [1024, 2048] that is split over fsdp=8 along the contracted 1024: 2048
/// numbers. Inside of a shard_map, which multiplies the rows of experts, a device looks at what it holds.
void reduce_scale(BlockState& state, const Operation& op, TensorId tensor, const Tensor& result, Phase phase) {
  if (has(state.tensor(op.output), Dim::rows)) return;
  const Tensor& operand = state.tensor(tensor);
  const PartitionSpec& spec = state.spec(state.forms.root(tensor));
  AxisList axes;
  std::int64_t channels = 1;
  for (std::size_t i = 0; i < operand.dims.size(); ++i) {
    const auto& [dim, size] = operand.dims[i];
    if (has(result, dim))
      channels *= divided_up(size, state.mesh.product(spec.dims[i]));
    else
      axes.append(spec.dims[i]);
  }
  axes.sort();
  state.recorder.record(phase, {CollectiveKind::all_reduce, axes, Bytes{channels * size_of(operand.dtype)}},
                        {state.id_of(op), tensor, Cause::quantization_scale, {spec, axes}, spec},
                        RunCount::body);
}

VectorWork on_numbers(const BlockState& state, TensorId tensor, const VectorCost& cost) {
  const auto elements = static_cast<double>(local_elements(state.tensor(tensor).dims, state.spec(tensor), state.mesh));
  return vector_work(cost, elements, state.tensor(tensor).dtype);
}

/// Products of the same rows (query, key and value; wi_0 and wi_1) share them: they are narrowed for the first.
bool is_narrowed_before(const BlockState& state, const Operation& op, TensorId tensor) {
  for (const Operation& other : state.block.operations) {
    if (&other == &op) return false;
    if (other.narrow && std::find(other.inputs.begin(), other.inputs.end(), tensor) != other.inputs.end()) return true;
  }
  throw InternalError("an operation of another block");
}

/// A weight or an activation: the largest of its numbers where the scale follows from it, for which whatever product
/// makes them looks; then they are read and written narrow. Masks are made narrow.
VectorWork factor_work(const BlockState& state, const Operation& op, int side) {
  const TensorId tensor = op.inputs[side];
  const VectorKernels& kernels = state.compiler.vector_kernels;
  const bool is_mask = state.tensor(tensor).role == TensorRole::dispatch_mask && state.compiler.has(Habit::fuses_masks);
  if (is_mask || is_narrowed_before(state, op, tensor)) return {};
  VectorWork work = on_numbers(state, tensor, kernels.of(VectorKernel::narrowing).forward);
  const bool searched = scaling_of(*op.narrow, side) != Scaling::fixed;
  if (searched && !is_made_by_product(state, tensor))
    work += on_numbers(state, tensor, kernels.of(VectorKernel::scale_search).forward);
  return work;
}

/// Of the result: likewise, for each product that narrows it.
VectorWork gradient_work(const BlockState& state, const Operation& op) {
  const VectorKernels& kernels = state.compiler.vector_kernels;
  const VectorKernel rounding =
      op.narrow->rounds_gradients_randomly ? VectorKernel::stochastic_narrowing : VectorKernel::narrowing;
  VectorWork work = on_numbers(state, op.output, kernels.of(rounding).backward);
  const bool searched = op.narrow->gradient_scaling != Scaling::fixed;
  if (searched && !is_read_by_product(state, op.output))
    work += on_numbers(state, op.output, kernels.of(VectorKernel::scale_search).backward);
  return work;
}

}  // namespace

void use_operand(BlockState& state, const Operation& op, int side, const EinsumPlan& plan, Pass pass) {
  const TensorId tensor = op.inputs[side];
  const bool left = side == 0, narrow = is_narrow(op, side);
  const bool made = state.forms.use(tensor, left ? plan.lhs : plan.rhs, pass, op, left ? plan.groups.lhs : plan.groups.rhs,
                                    narrow ? Numbers::narrow : Numbers::wide);
  if (made && narrow && scaling_of(*op.narrow, side) == Scaling::channelwise)
    reduce_scale(state, op, tensor, state.tensor(op.output), BlockState::phase_of(pass));
}

void use_factor(BlockState& state, const Operation& op, int wanted, const PartitionSpec& spec, const AxisList& groups) {
  const int side = 1 - wanted;
  const TensorId tensor = op.inputs[side];
  const Numbers numbers = numbers_of_factor(op, wanted);
  const bool made = state.forms.use(tensor, spec, Pass::backward, op, groups, numbers);
  if (!made || numbers == Numbers::wide || scaling_of(*op.narrow, side) != Scaling::channelwise) return;
  const Tensor& result = state.tensor(numbers == Numbers::narrow_again ? op.inputs[wanted] : op.output);
  reduce_scale(state, op, tensor, result, Phase::backward);
}

void use_result_gradient(BlockState& state, const Operation& op, int wanted, const PartitionSpec& spec,
                         const AxisList& groups) {
  const Numbers numbers = numbers_of_gradient(op, wanted);
  const bool made = state.forms.use_gradient(op.output, spec, op, groups, numbers);
  if (made && numbers != Numbers::wide && op.narrow->gradient_scaling == Scaling::channelwise)
    reduce_scale(state, op, op.output, state.tensor(op.inputs[wanted]), Phase::backward);
}

NarrowWork narrow_work(const BlockState& state, const Operation& op) {
  NarrowWork work;
  if (!op.narrow) return work;
  work.forward = op.narrow->multiplies_narrow();
  for (int side = 0; side < 2; ++side)
    if (is_narrow(op, side)) work.narrowing_forward += factor_work(state, op, side);
  for (int wanted = 0; wanted < 2; ++wanted) {
    if (!state.tensor(op.inputs[wanted]).differentiable || !is_narrow_gradient(op, wanted)) continue;
    ++work.gradients;
    work.narrowing_backward += gradient_work(state, op);
    if (op.narrow->narrows_again) work.narrowing_backward += factor_work(state, op, 1 - wanted);
  }
  return work;
}

}  // namespace shardplan
