#pragma once
// The configurations that a request to check asks for.
#include <planner/check/check.hpp>
#include <shardplan/configuration.hpp>
#include <vector>

namespace shardplan {

/// Whether the request, or its arguments, say the mesh.
bool gives_mesh(const CheckRequest& request);

/// Those of one model: every mesh, and, where the arguments don't say the path through a mixture-of-experts layer, both
/// the sparse and the dropping one. Throws InputError when the arguments don't suit the model.
std::vector<Configuration> check_cases(const CheckRequest& request, const std::string& model);

}  // namespace shardplan
