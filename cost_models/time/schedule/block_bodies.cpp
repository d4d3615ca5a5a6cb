#include <algorithm>
#include <cost_models/time/schedule/block_bodies.hpp>

namespace shardplan {
namespace {

Seconds sum(const std::vector<Seconds>& steps) {
  Seconds total;
  for (const Seconds step : steps) total += step;
  return total;
}

/// What an operation brings its result or its partial sums to. All other causes are about what it reads.
constexpr Cause of_results[] = {Cause::contracted_dim_split, Cause::result_layout,   Cause::feature_statistics,
                                Cause::quantization_scale,   Cause::ring_sum,        Cause::embedding_columns,
                                Cause::scatter_weights,      Cause::scatter_indices, Cause::expert_ids};

bool is_of_result(Cause cause) {
  return std::find(std::begin(of_results), std::end(of_results), cause) != std::end(of_results);
}

}  // namespace

BlockBodies::BlockBodies(const PartitionedBlock& block, const std::vector<OperationTime>& times,
                         const OperationTime& stacks)
    : block_(block.block), flow_(block.flow()) {
  const std::size_t count = block.work().size();
  for (auto* steps : {&forward_steps_, &recomputed_steps_, &left_steps_, &right_steps_}) steps->assign(count, -1);
  forward_.reserve(count + 1);
  backward_.reserve(3 * count + 1);
  const auto run = [&](std::vector<Seconds>& body, const ComputeSeconds& time) {
    compute_ += time;
    body.push_back(time.total());
    return static_cast<int>(body.size()) - 1;
  };
  for (std::size_t i = 0; i < count; ++i) forward_steps_[i] = run(forward_, times[i].forward);
  for (std::size_t i = 0; i < count; ++i)
    if (block.liveness.recomputed[i]) recomputed_steps_[i] = run(backward_, times[i].forward);
  for (std::size_t i = count; i-- > 0;) {
    left_steps_[i] = run(backward_, times[i].backward);
    right_steps_[i] = run(backward_, times[i].backward_right);
  }
  run(forward_, stacks.forward);
  run(backward_, stacks.backward);
}

Seconds BlockBodies::forward_compute() const { return sum(forward_); }
Seconds BlockBodies::backward_compute() const { return sum(backward_); }

std::vector<BodyStep> BlockBodies::steps(bool backward) const {
  std::vector<BodyStep> all(backward ? backward_.size() : forward_.size());
  const auto note = [&](const std::vector<int>& of_operations, KernelPart part) {
    for (std::size_t i = 0; i < of_operations.size(); ++i)
      if (of_operations[i] >= 0) all[of_operations[i]] = {static_cast<OperationId>(i), part};
  };
  if (!backward) {
    note(forward_steps_, KernelPart::forward);
    return all;
  }
  note(recomputed_steps_, KernelPart::again);
  note(left_steps_, KernelPart::gradient);
  note(right_steps_, KernelPart::right_gradient);
  return all;
}

int BlockBodies::made(TensorId tensor, const std::vector<int>& steps) const {
  const OperationId maker = tensor >= 0 ? flow_.maker(tensor) : -1;
  return maker >= 0 ? steps[maker] : -1;
}

int BlockBodies::first_reader(TensorId tensor, int step, const std::vector<int>& steps, int end) const {
  int first = end;
  for (const OperationId reader : flow_.readers(tensor))
    if (steps[reader] > step) first = std::min(first, steps[reader]);
  return first;
}

/// Gathers can start whenever the channel is free; sums of gradients have the rest of the body.
Slot BlockBodies::weight_slot(const Collective& c) const {
  const bool gathers = c.purpose() == CollectiveKind::all_gather;
  if (c.phase == Phase::forward) return {false, -1, forward_steps_[c.operation]};
  const int end = static_cast<int>(backward_.size());
  if (!gathers) return {true, right_steps_[c.operation], end, true};
  if (c.phase == Phase::rematerialized_forward && recomputed_steps_[c.operation] >= 0)
    return {true, -1, recomputed_steps_[c.operation]};
  return {true, -1, left_steps_[c.operation]};
}

Slot BlockBodies::forward_slot(const Collective& c, const std::vector<int>& steps) const {
  const bool again = c.phase == Phase::rematerialized_forward;
  const int end = static_cast<int>(again ? backward_.size() : forward_.size());
  const int own = steps[c.operation] >= 0 ? steps[c.operation] : left_steps_[c.operation];
  if (is_of_result(c.cause)) return {again, own, first_reader(block_->operations[c.operation].output, own, steps, end)};
  return {again, std::min(made(c.tensor, steps), own - 1), own};
}

Slot BlockBodies::gradient_slot(const Collective& c) const {
  const int own = left_steps_[c.operation], end = static_cast<int>(backward_.size());
  const Operation& op = block_->operations[c.operation];
  if (c.tensor != op.output && (c.cause == Cause::activation_gradient_sum || c.cause == Cause::activation_gradient_layout)) {
    const int made_by = made(c.tensor, left_steps_);
    return {true, own, made_by > own ? made_by : end};
  }
  // What its gradient reads: made where the gradients of the result were, by those that read the result.
  int made_by = recomputed_steps_[c.operation];
  for (const OperationId reader : flow_.readers(op.output))
    if (left_steps_[reader] < own) made_by = std::max(made_by, left_steps_[reader]);
  return {true, made_by, own};
}

/// While one part of a ring is multiplied the next one comes.
Slot BlockBodies::ring_slot(const Collective& c) const {
  const bool again = c.phase == Phase::rematerialized_forward && recomputed_steps_[c.operation] >= 0;
  const std::vector<int>& steps = c.phase == Phase::forward ? forward_steps_ : again ? recomputed_steps_ : left_steps_;
  const int own = steps[c.operation];
  const int made_by = c.phase == Phase::backward ? own - 1 : std::min(made(c.tensor, steps), own - 1);
  return {c.phase != Phase::forward, made_by, own + 1};
}

Slot BlockBodies::slot_of(const Collective& c) const {
  if (c.operation < 0) {
    const bool backward = c.phase != Phase::forward;
    const int end = static_cast<int>(backward ? backward_.size() : forward_.size());
    return {backward, end - 1, end};
  }
  if (c.parameter) return weight_slot(c);
  if (c.cause == Cause::attention_ring) return ring_slot(c);
  if (c.phase == Phase::forward) return forward_slot(c, forward_steps_);
  if (c.phase == Phase::rematerialized_forward) return forward_slot(c, recomputed_steps_);
  return gradient_slot(c);
}

}  // namespace shardplan
