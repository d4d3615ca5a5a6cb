#pragma once
// The parallelisms of one sharding, side by side as enumerate_parallelisms leaves them: the schedules of a pipeline, most of
// all. What one of them shows may spare the others their own probes.
#include <planner/search/explore/incumbents.hpp>
#include <span>
#include <vector>

namespace shardplan {

using Family = std::span<Exploration>;

std::vector<Family> families_of(std::vector<Exploration>& explorations);

/// Families that differ in the links which axes of the same sizes lie on alone: they partition every block alike.
using Kin = std::vector<Family>;

/// In the order of their first families. Compilers for which it matters what fills a slice (XLA:TPU sums over whole slices
/// otherwise) have kin on the same slices alone.
std::vector<Kin> kin_of(const std::vector<Family>& families, const Compiler& compiler);

PreparedMesh::Links links_of(const Kin& kin);

std::size_t count_parallelisms(std::span<const Family> families);
std::size_t count_parallelisms(std::span<const Kin> all);

/// Costs their smallest candidates until one fits. Those after it are looked at when their time matters.
void probe_memory(Family family, Runner& runner);

/// Of families whose weights alone are too large: what their candidates need.
void look_at_smallest(const Kin& kin, Runner& runner);

/// What a device needs at least under any of them.
Bytes least_memory(const Kin& kin);

/// Whether one of them does, as far as is known.
bool may_fit(Family family);

/// Whether a candidate of theirs under the smallest policies fits.
bool fits_at_all(Family family, Runner& runner);

bool may_fit(const Kin& kin);

/// Costs what none of the candidates of those that may fit is faster than.
void bound_seconds(Family family, Runner& runner);

/// Looks closer at the most promising one, batches between those that are searched counted: whether it fits, then what it
/// takes at the first batch that doesn't. False: there is nothing left to see.
bool tighten(Family family, Runner& runner);
double least_seconds_between(Family family);

/// Per token, of any candidate that may fit; infinite where none does.
double least_seconds(Family family);

/// Whether one of its candidates may matter.
bool admit(const Incumbents& incumbents, Family family);

/// The same of kin.
double least_seconds(const Kin& kin);
bool admit(const Incumbents& incumbents, const Kin& kin);

/// Costs what could matter, most promising family first, of each the most promising parallelism. What one of them reaches
/// the others, which all are one alternative, have to reach.
void expand(const Kin& kin, const Incumbents& incumbents, const SearchSpace& space, const Evaluator& evaluate);

}  // namespace shardplan
