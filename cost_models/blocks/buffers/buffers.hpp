#pragma once
// Which buffers one run of a block needs, and when: values of the (re)computed forward, gradients, gathered forms.
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

std::vector<Lifetime> buffers_of(const BlockState& state, const Schedule& schedule, const Liveness& liveness,
                                 const StepOrder& order, Pressure pressure = Pressure::none);

}  // namespace shardplan
