#pragma once
// The kinds of parallelism that a plan compares with each other, whatever the place of the best of each.
#include <array>
#include <planner/search/space/parallelism.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

inline constexpr std::array strategies = {Strategy::data_and_fsdp, Strategy::tensor, Strategy::context,
                                          Strategy::expert, Strategy::pipeline};

std::string meshes_of(Strategy strategy);     ///< "tensor parallelism", "data and fsdp alone"

/// Whether a mesh uses it: one of its axes is above 1; data_and_fsdp: no axis but data, fsdp and fsdp_transpose is.
bool uses(const Mesh& mesh, Strategy strategy);
/// Likewise; but an `expert` axis of a model without experts splits none.
bool uses(const Parallelism& parallelism, Strategy strategy);

}  // namespace shardplan
