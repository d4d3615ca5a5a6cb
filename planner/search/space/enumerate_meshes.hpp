#pragma once
// Every mesh of a machine's devices over a rule set's axes that could help this model:
//   sizes inside a slice multiply to its devices, sizes between slices to the slices
//   an axis is searched when some rule uses it and its size divides the dims that it splits
//   fsdp_transpose splits what fsdp has split already: alone it would only be fsdp along another dim
//   between slices only data, fsdp and stage grow, those that communicate least; an axis that the request fixes may, too
//   beside more than one stage only data, fsdp, expert and tensor are searched
// What MaxText refuses in combination is left to constraints.hpp.
#include <planner/search/space/search_space.hpp>
#include <vector>

namespace shardplan {

/// Without stages, in a fixed order: the sizes of later axes vary fastest, larger ones first. Empty when the fixed axes
/// leave none.
std::vector<Mesh> enumerate_meshes(const SearchSpace& space, const RuleSet& rules);

/// Likewise, with every number of stages above 1; `rules` as edited for stages.
std::vector<Mesh> enumerate_pipelined_meshes(const SearchSpace& space, const RuleSet& rules);

}  // namespace shardplan
