#pragma once
// Which parallelisms a plan shows as one.
#include <planner/search/space/parallelism.hpp>
#include <vector>

namespace shardplan {

/// Whether two are shown as one alternative: the same rules, path and mesh, but for how fsdp and fsdp_transpose share
/// their product and for which part of an axis lies between slices.
bool is_alike(const Parallelism& a, const Parallelism& b);

/// Gives those that are alike the same number (Parallelism::alternative).
void number_alternatives(std::vector<Parallelism>& parallelisms);

}  // namespace shardplan
