#pragma once
// The meshes that a rule set is checked on when none is asked for: the combinations of expert, tensor and context
// parallelism that people train with, the rest of the devices on fsdp.
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <span>
#include <vector>

namespace shardplan {

/// Device counts from one node to a large slice.
std::span<const int> check_device_counts();

/// Meshes of `devices` over the axes of `rules`, each once. An axis that the rules don't have, or that can't divide the
/// model's experts, is left out with the mesh that needs it.
std::vector<Mesh> check_meshes(const RuleSet& rules, const Model& model, int devices);

}  // namespace shardplan
