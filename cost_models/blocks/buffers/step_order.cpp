#include <algorithm>
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>
#include <numeric>
#include <optional>

namespace shardplan {
namespace {

/// Of each operation the step in front of which it runs again.
class Needs {
 public:
  Needs(const BlockState& state, const Schedule& schedule) : state_(state), block_(state.block), schedule_(schedule) {}

  /// In reverse: readers come behind what they read.
  std::vector<int> all() {
    needed_ = schedule_.recomputed;
    for (OperationId i = static_cast<OperationId>(needed_.size()); i-- > 0;)
      if (needed_[i] >= 0) needed_[i] = std::max(needed_[i], first_reader(i));
    return std::move(needed_);
  }

 private:
  int first_reader(OperationId maker) const {
    const TensorId value = block_.operations[maker].output;
    int first = state_.forms.step();
    if (reads(maker, value)) first = std::min(first, schedule_.backward_begins[maker]);
    for (const OperationId reader : state_.flow().readers(value)) {
      if (needed_[reader] >= 0) first = std::min(first, needed_[reader]);
      if (reads(reader, value)) first = std::min(first, schedule_.backward_begins[reader]);
    }
    return first;
  }

  bool reads(OperationId reader, TensorId value) const {
    if (!schedule_.has_backward(reader)) return false;
    const Operation& op = block_.operations[reader];
    const OperationKind& kind = operation_kind(op.kind);
    const auto inputs = kind.read_by_gradient(block_, op);
    return kind.gradient_recomputes() || std::find(inputs.begin(), inputs.end(), value) != inputs.end();
  }

  const BlockState& state_;
  const Block& block_;
  const Schedule& schedule_;
  std::vector<int> needed_;
};

/// Of experts whose rows are sorted, where a policy keeps the output and one of two projections (minimal: wi_0).
struct LateProjection {
  OperationId output = -1;
  OperationId projection = -1;  ///< that runs again
  int rows_done = 0;            ///< step behind the gradients of the rows that both projections read
};

std::optional<LateProjection> late_projection(const BlockState& state, const Schedule& schedule) {
  if (state.config.moe_path == MoePath::dropping || is_ragged_dot_dense(state.compiler, state.config)) return std::nullopt;
  if (!state.compiler.has(Habit::runs_expert_weight_gradients_last)) return std::nullopt;
  if (leads_to_next_layer(state.block, *state.program.program)) return std::nullopt;
  LateProjection late;
  bool keeps_other = false;
  for (const auto& op : state.block.operations) {
    const OperationId id = state.id_of(op);
    const bool runs_again = schedule.recomputed[id] >= 0;
    if (op.role == OperationRole::expert_output && schedule.has_backward(id) && !runs_again) late.output = id;
    if (op.role != OperationRole::expert_projection) continue;
    late.rows_done = std::max(late.rows_done, schedule.backward_begins[id] + 1);
    if (runs_again) late.projection = id;
    keeps_other = keeps_other || !runs_again;
  }
  return late.output >= 0 && late.projection >= 0 && keeps_other ? std::optional(late) : std::nullopt;
}

/// The last product in the backward pass that reads what `op` reads.
OperationId last_reader(const BlockState& state, const Operation& op) {
  const TensorId input = state.forms.root(op.inputs.front());
  for (const auto& other : state.block.operations)
    if (other.kind == OpKind::einsum && state.forms.root(other.inputs.front()) == input) return state.id_of(other);
  return state.id_of(op);
}

/// Step behind the last that runs again.
int recomputation_ends(const Schedule& schedule) {
  return *std::max_element(schedule.recomputed.begin(), schedule.recomputed.end()) + 1;
}

/// In the list order, which offloading policies don't take (plan_qwen3535ba3b_tpuv6e_256, plan_llama417b16e_tpuv6e_256).
bool runs_kept_experts_apart(const BlockState& state, const Liveness& liveness) {
  return state.compiler.has(Habit::lists_kept_experts_apart) && state.block.mixture && liveness.offloaded.empty() &&
         state.config.moe_path != MoePath::dropping && leads_to_next_layer(state.block, *state.program.program);
}

}  // namespace

bool runs_split_layer(const BlockState& state) {
  return state.compiler.has(Habit::runs_split_layers_as_read) && state.block.kind == BlockKind::layer &&
         state.splits_features();
}

StepOrder::StepOrder(const BlockState& state, const Schedule& schedule, const Liveness& liveness, Pressure pressure)
    : dropped_(state, schedule, pressure) {
  Places places(state.forms.step() + 1);
  std::iota(places.begin(), places.end(), 0);
  if (runs_split_layer(state)) {
    postpone_recomputation(places, state, schedule);
    postpone_weight_gradients(places, state, schedule);
  }
  postpone_experts(places, state, schedule, liveness);
  leave_experts(places, state, schedule);
  postpone_projection(places, state, schedule);
  rank(places);
}

void StepOrder::postpone_projection(Places& places, const BlockState& state, const Schedule& schedule) {
  const auto late = late_projection(state, schedule);
  if (!late) return;
  const auto& inputs = state.block.operations[late->output].inputs;
  const OperationId activation = state.flow().maker(inputs[0]), weight = state.flow().maker(inputs[1]);
  for (const OperationId id : {late->projection, activation}) {
    if (id < 0 || schedule.recomputed[id] < 0) continue;
    places[schedule.recomputed[id]] = schedule.backward_begins[late->output] + 1;
    ++postponed_;
  }
  const auto leave = [&](int step) { places[step] = std::max(places[step], late->rows_done); };
  leave(schedule.backward_begins[late->projection]);
  leave(schedule.backward_ends[late->projection]);
  leave(schedule.backward_ends[late->output]);
  if (weight < 0) return;
  leave(schedule.backward_begins[weight]);
  leave(schedule.backward_ends[weight]);
}

void StepOrder::leave_experts(Places& places, const BlockState& state, const Schedule& schedule) {
  const bool gathers_more = state.forms.gathers_gradient_last() &&
                            !state.compiler.overlap.asynchronous.has(CollectiveKind::reduce_scatter);
  for (const auto& op : state.block.operations) {
    const OperationId id = state.id_of(op);
    const bool last = schedule.has_backward(id) && dropped_.runs_gradient_last(id);
    const bool behind_all = gathers_more && op.role == OperationRole::expert_output;
    if (last) places[schedule.backward_ends[id]] = state.forms.step() + (behind_all ? 1 : 0);
  }
  const OperationId output = dropped_.late_output();
  if (output < 0) return;
  const int rows_done = dropped_.late_work(schedule);
  places[schedule.recomputed[output]] = rows_done;
  ++postponed_;
  for (const OperationId combine : state.flow().readers(state.block.operations[output].output))
    if (schedule.has_backward(combine)) places[schedule.backward_ends[combine]] = rows_done;
}

void StepOrder::postpone_experts(Places& places, const BlockState& state, const Schedule& schedule,
                                 const Liveness& liveness) {
  if (!runs_kept_experts_apart(state, liveness)) return;
  const std::vector<bool> leads = recomputed_for_next_layer(state.block, *state.program.program, liveness);
  const std::vector<int> needed = Needs(state, schedule).all();
  const int begins = recomputation_ends(schedule);
  for (const Operation& op : state.block.operations) {
    const OperationId id = state.id_of(op);
    const bool of_experts = op.module == Module::mixture || op.module == Module::shared_experts;
    if (of_experts && !leads[id] && needed[id] >= begins) places[schedule.recomputed[id]] = needed[id], ++postponed_;
  }
}

void StepOrder::postpone_recomputation(Places& places, const BlockState& state, const Schedule& schedule) {
  if (leads_to_next_layer(state.block, *state.program.program)) return;  // that one reads all of it
  const std::vector<int> needed = Needs(state, schedule).all();
  const int end = recomputation_ends(schedule);
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (needed[i] >= end) places[schedule.recomputed[i]] = needed[i], ++postponed_;
}

void StepOrder::postpone_weight_gradients(Places& places, const BlockState& state, const Schedule& schedule) const {
  if (!state.split_axes(state.block.input, {Dim::batch, Dim::sequence}).empty()) return;
  for (const auto& op : state.block.operations) {
    const OperationId id = state.id_of(op);
    if (op.kind != OpKind::einsum || schedule.backward_ends[id] <= schedule.backward_begins[id]) continue;
    int& place = places[schedule.backward_ends[id]];
    place = std::max(place, schedule.backward_ends[last_reader(state, op)]);
  }
}

void StepOrder::rank(const Places& places) {
  std::vector<int> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return places[a] < places[b]; });
  rank_.resize(places.size());
  for (std::size_t at = 0; at < order.size(); ++at) rank_[order[at]] = static_cast<int>(at);
}

Schedule StepOrder::ordered(const Schedule& schedule) const {
  Schedule all = schedule;
  for (auto* steps : {&all.forward, &all.recomputed, &all.backward_begins, &all.backward_ends})
    for (int& step : *steps) step = step < 0 ? step : rank_[step];
  return all;
}

void StepOrder::order(std::vector<Lifetime>& lifetimes) const {
  for (Lifetime& life : lifetimes) {
    const bool is_used = life.first <= life.last;
    life.first = rank_[life.first], life.last = rank_[life.last];
    // The gathered weight of an output that runs again behind its own gradient.
    if (is_used && life.first > life.last) std::swap(life.first, life.last);
  }
}

}  // namespace shardplan
