#pragma once
// What one schedule of a pipeline shows of the others of its family (planner/search/space/pipeline_bounds.hpp): those that
// need no more memory spare them looks at it, and say which microbatches may fit; one run bounds them all.
#include <planner/search/explore/family.hpp>
#include <vector>

namespace shardplan {

/// One that doesn't fit and begins no larger; null: none is known.
const Exploration* smaller_that_is_too_large(Family family, const Exploration& exploration);

/// Looks at the memory of one of the family, unless that of another spares it.
void probe_memory(Family family, Exploration& exploration, Runner& runner);

/// The family, those first that may spare the others a look at memory.
std::vector<Exploration*> leanest_first(Family family);

/// Where what is known of a family lets it matter: bounds its schedules by the microbatches that may fit, all of them at
/// once, then those that differ in their microbatches alone.
void bound_schedules(Family family, const Bar& bar, Runner& runner);

}  // namespace shardplan
