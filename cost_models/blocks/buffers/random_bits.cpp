#include <algorithm>
#include <cost_models/blocks/buffers/random_bits.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

int backward_begins(const Schedule& schedule) {
  return *std::min_element(schedule.backward_begins.begin(), schedule.backward_begins.end(), [](int a, int b) {
    return a >= 0 && (b < 0 || a < b);
  });
}

Bytes bits_of_gradient(const BlockState& state, TensorId result) {
  Tensor bits = state.tensor(result);
  bits.dtype = DType::f32;  // as wide
  return stored_bytes(bits, state.spec(result), state.mesh, state.compiler);
}

}  // namespace

std::vector<Lifetime> random_bits(const BlockState& state, const Schedule& schedule, bool weight_gradients_last) {
  std::vector<Lifetime> all;
  const bool early = state.compiler.overlap.asynchronous.has(CollectiveKind::reduce_scatter);
  for (const Operation& op : state.block.operations) {
    const OperationId id = state.id_of(op);
    if (!op.narrow || !op.narrow->rounds_gradients_randomly || !schedule.has_backward(id)) continue;
    const auto drawn_for = [&](int step) {
      all.push_back({{op.output, " gradient, random bits"}, bits_of_gradient(state, op.output),
                     early ? std::min(step, backward_begins(schedule)) : step, step});
    };
    if (op.narrow->input_gradient && state.tensor(op.inputs.front()).differentiable) drawn_for(schedule.backward_begins[id]);
    if (op.narrow->weight_gradient) drawn_for(weight_gradients_last ? state.forms.step() : schedule.backward_ends[id]);
  }
  return all;
}

}  // namespace shardplan
