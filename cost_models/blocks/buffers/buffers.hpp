#pragma once
// Which buffers one run of a block needs, and when: values of the (re)computed forward, gradients, gathered forms.
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// Where memory is short a scheduler runs first what frees most of it: weight gradients that read experts' rows, and the
/// reduction of softmax statistics.
enum class Pressure : std::uint8_t { none, high };

std::vector<Lifetime> buffers_of(const BlockState& state, const Schedule& schedule, const Liveness& liveness,
                                 const StepOrder& order, Pressure pressure = Pressure::none);

}  // namespace shardplan
