#pragma once
// What the KEY=VALUE words of a plan say, the same for every candidate.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/plan.hpp>

namespace shardplan {

/// `request`, whose model is as its file has it, with its machines' compilers, and with dims, settings and rules
/// changed as the arguments say. Throws InputError on a malformed value, and on what no run of the model starts with.
PlanRequest with_arguments(PlanRequest request, const GivenArguments& arguments);

}  // namespace shardplan
