#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/routed_tokens.hpp>
#include <limits>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t place_size = 4;  // bytes of an s32
/// Numbers that one integer addresses.
constexpr std::int64_t addressed = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;

Bytes places(const RoutedTokens& routed, std::int64_t integers) { return Bytes{routed.places() * integers * place_size}; }

/// In rows of lanes, k or what else comes last along them.
Bytes in_lanes(const RoutedTokens& routed) {
  return Bytes{routed.tokens * rounded_up(routed.chosen, lanes) * place_size};
}

Bytes weights_of_all_experts(const RoutedTokens& routed) { return Bytes{routed.tokens * routed.experts * place_size}; }

/// The scatter's result is made as one row of numbers, which is as the tiles of 128 experts lie, or beside what it is made
/// of.
Bytes scattered(const RoutedTokens& routed) {
  const bool in_place = routed.tokens * routed.experts < addressed && routed.experts == lanes;
  return weights_of_all_experts(routed) * (in_place ? 1 : 2);
}

/// Places of more numbers than one integer addresses, before and after a fourth is added.
Bytes unaddressed_places(const RoutedTokens& routed) {
  if (routed.tokens * routed.experts <= addressed) return {};
  return Bytes{routed.places() * lanes * place_size * 2};
}

/// XLA:TPU turns integers and weights of the chosen so that k lies along the lanes, to read them as one row: one after
/// another, beside the scattered weights; where the copies run beside compute, two of places and one of weights at a time
/// (rows of many experts).
Bytes turned(const BlockState& state, const RoutedTokens& routed) {
  const Bytes one = in_lanes(routed);
  if (!state.compiler.has(Habit::turns_beside_compute) || !routed.has_many_experts())
    return one + weights_of_all_experts(routed);
  return one * 2 + Bytes{one.value / place_size * routed.weight_size};
}

}  // namespace

RoutedTokens routed_tokens(const BlockState& state, const Operation& routing) {
  const auto& logits = state.tensor(routing.inputs.front()).dims;  // [batch, sequence, experts]
  const Tensor& weights = state.tensor(routing.output);
  return {logits[0].size * logits[1].size, logits[2].size, weights.dims.back().size, size_of(weights.dtype)};
}

void add_scatters(OperationWork& work, const BlockState& state, const RoutedTokens& routed, bool are_weights_gathered,
                  std::int64_t devices) {
  if (!state.compiler.scatter_cycles) return;
  const auto choices = static_cast<double>(routed.places());
  const double numbers = static_cast<double>(routed.tokens) * static_cast<double>(routed.experts);
  const auto parts = static_cast<double>(devices);
  const Scatter ids{choices, numbers, place_size};
  const Scatter own{choices / parts, numbers / parts, routed.weight_size};
  const Scatter weights = are_weights_gathered ? Scatter{choices, own.elements, own.size}
                                               : Scatter{own.updates, numbers, own.size};
  if (state.program.program->step == StepKind::train) work.scatters_forward.push_back(ids);
  work.scatters_forward.push_back(weights);
  work.scatter_backward = own;
}

std::vector<Lifetime> whole_routing(const BlockState& state, const Schedule& schedule, OperationId routing) {
  if (!schedule.has_backward(routing)) return {};
  const RoutedTokens routed = routed_tokens(state, state.block.operations[routing]);
  const int made = schedule.held_from(state.block, routing), read = schedule.backward_begins[routing];
  std::vector<Lifetime> all = {{"places of all routed tokens", places(routed, dims_of_place), made, read}};
  if (!state.compiler.has(Habit::pads_to_tiles)) {
    all.push_back({"routing weights of all tokens", weights_of_all_experts(routed), made, read});
    return all;
  }
  const Bytes most = std::max({turned(state, routed), scattered(routed), unaddressed_places(routed)});
  if (schedule.written(state.block, routing) >= 0)
    all.push_back({"routing of all tokens", places(routed, 2) + most, made, made});
  if (routed.has_many_experts()) all.push_back({"places of all routed tokens, turned", in_lanes(routed), read, read});
  return all;
}

}  // namespace shardplan
