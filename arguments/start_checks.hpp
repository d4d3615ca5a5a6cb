#pragma once
// What MaxText checks when it starts of keys that change nothing in a step and are otherwise passed over.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {

/// What is said of context_parallel_reorder_strategy=striped where MaxText doesn't start with it, or not on every mesh.
inline constexpr const char* leave_order_to_auto =
    "leave it to auto, which takes stripes where Transformer Engine packs a ring";

/// Throws InputError, with MaxText's reason, on the first argument with which MaxText would not start this run.
void check_start(const GivenArguments& arguments, const Configuration& configuration);

}  // namespace shardplan
