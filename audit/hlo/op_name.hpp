#pragma once
// What the name of a JAX operation says
// (metadata={op_name="jit(train_step)/transpose(jvp())/while/body/wi_0/dot_general"}).
#include <shardplan/collective/collective.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// jax.checkpoint names what it recomputes rematted_computation; jax.grad names the forward pass jvp and the backward
/// pass transpose(jvp); what is in neither is the optimizer, metrics and the state's own layout.
Phase phase_of(std::string_view op_name);

/// The names of which a combined collective's consists, each in full: "jvp()/(wi_1/dot:wo/dot)" → "jvp()/wi_1/dot",
/// "jvp()/wo/dot".
/// The name itself where it is one.
std::vector<std::string> combined_names(std::string_view op_name);

/// Without the functions and loops that JAX wraps around everything: "wi_0/dot_general".
std::string source_operation(std::string_view op_name);

}  // namespace shardplan
