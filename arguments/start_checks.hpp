#pragma once
// What MaxText checks when it starts of keys that change nothing in a step and are otherwise passed over.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {

/// Throws InputError, with MaxText's reason, on the first argument with which MaxText would not start this run.
void check_start(const GivenArguments& arguments, const Configuration& configuration);

}  // namespace shardplan
