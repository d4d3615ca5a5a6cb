#pragma once
// The configurations that a request to check asks for.
#include <planner/check/check.hpp>
#include <shardplan/configuration.hpp>
#include <vector>

namespace shardplan {

/// Those of one model: every mesh, and, where the arguments don't say the path through a mixture-of-experts layer, both
/// the sparse and the dropping one. Throws InputError when the arguments don't suit the model.
std::vector<Configuration> check_cases(const CheckRequest& request, const Model& model);

}  // namespace shardplan
