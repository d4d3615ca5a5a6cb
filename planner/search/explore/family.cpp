#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <planner/search/explore/family.hpp>
#include <planner/search/explore/schedules.hpp>

namespace shardplan {
namespace {

/// Most promising parallelism first.
void expand(Family family, Runner& runner, Bar& bar) {
  bound_schedules(family, bar, runner);
  std::vector<Exploration*> order;
  for (Exploration& exploration : family)
    if (exploration.may_fit()) order.push_back(&exploration);
  std::stable_sort(order.begin(), order.end(), [](const Exploration* a, const Exploration* b) {
    return a->least_seconds() < b->least_seconds();
  });
  for (Exploration* exploration : order) {
    if (!exploration->reaches(bar)) continue;
    if (!exploration->is_probed()) probe_memory(family, *exploration, runner);
    if (exploration->may_fit()) exploration->expand(runner, bar);
  }
}

}  // namespace

std::vector<Family> families_of(std::vector<Exploration>& explorations) {
  const auto related = [](const Exploration& a, const Exploration& b) {
    return a.parallelism().place == b.parallelism().place && a.parallelism().moe_path == b.parallelism().moe_path;
  };
  std::vector<Family> families;
  for (std::size_t begin = 0, end = 0; begin < explorations.size(); begin = end) {
    while (end < explorations.size() && related(explorations[begin], explorations[end])) ++end;
    families.push_back(Family(explorations).subspan(begin, end - begin));
  }
  return families;
}

std::size_t count_parallelisms(std::span<const Family> families) {
  std::size_t count = 0;
  for (const Family family : families) count += family.size();
  return count;
}

PreparedMesh::Links links_of(const Kin& kin) {
  return kin.size() > 1 ? PreparedMesh::Links::several : PreparedMesh::Links::one;
}

std::size_t count_parallelisms(std::span<const Kin> all) {
  std::size_t count = 0;
  for (const Kin& kin : all) count += count_parallelisms(std::span<const Family>(kin));
  return count;
}

namespace {

/// Whether what is emitted depends on which axes fill a slice.
bool tells_slices_apart(const Compiler& compiler) {
  return compiler.has(Habit::all_reduces_over_whole_slices) || compiler.has(Habit::gathers_whole_slices_by_all_reduce);
}

}  // namespace

std::vector<Kin> kin_of(const std::vector<Family>& families, const Compiler& compiler) {
  using Sizes = std::vector<std::tuple<std::string_view, int, int>>;  // of every axis; between slices, where that matters
  const bool apart = tells_slices_apart(compiler);
  std::map<std::tuple<std::size_t, MoePath, Sizes>, std::size_t> known;
  std::vector<Kin> all;
  for (const Family family : families) {
    const Parallelism& p = family.front().parallelism();
    Sizes sizes;
    for (const MeshAxis& axis : p.mesh.axes) sizes.emplace_back(axis.name, axis.size(), apart ? axis.dcn : 0);
    const auto [at, is_new] = known.try_emplace({p.rules, p.moe_path, std::move(sizes)}, all.size());
    if (is_new) all.emplace_back();
    all[at->second].push_back(family);
  }
  return all;
}

void probe_memory(Family family, Runner& runner) {
  for (Exploration* exploration : leanest_first(family)) {
    if (exploration->may_fit()) probe_memory(family, *exploration, runner);
    if (exploration->may_fit()) return;
  }
}

void look_at_smallest(const Kin& kin, Runner& runner) {
  for (const Family family : kin)
    for (Exploration* exploration : leanest_first(family)) {
      const auto smaller = [&](const Exploration& other) {
        return other.is_looked_at() && begins_no_larger(other.parallelism(), exploration->parallelism());
      };
      if (!exploration->is_looked_at() && std::none_of(family.begin(), family.end(), smaller))
        exploration->look_at_smallest(runner);
    }
}

Bytes least_memory(const Kin& kin) {
  Bytes least{std::numeric_limits<std::int64_t>::max()};
  for (const Family family : kin)
    for (const Exploration& exploration : family) least = std::min(least, exploration.parallelism().least_memory);
  return least;
}

bool may_fit(Family family) {
  return std::any_of(family.begin(), family.end(), [](const Exploration& exploration) { return exploration.may_fit(); });
}

bool fits_at_all(Family family, Runner& runner) {
  const auto order = leanest_first(family);
  return std::any_of(order.begin(), order.end(), [&](Exploration* exploration) {
    return !smaller_that_is_too_large(family, *exploration) && exploration->fits_at_all(runner);
  });
}

bool may_fit(const Kin& kin) {
  return std::any_of(kin.begin(), kin.end(), [](Family family) { return may_fit(family); });
}

bool tighten(Family family, Runner& runner) {
  Exploration& first = *std::min_element(family.begin(), family.end(), [](const Exploration& a, const Exploration& b) {
    return std::tuple(!a.may_fit(), a.least_seconds_between()) < std::tuple(!b.may_fit(), b.least_seconds_between());
  });
  if (!first.may_fit() || first.is_bounded_between()) return false;
  if (!first.is_probed())
    probe_memory(family, first, runner);
  else
    first.bound_between(runner);
  return true;
}

double least_seconds_between(Family family) {
  double least = std::numeric_limits<double>::infinity();
  for (const Exploration& exploration : family)
    if (exploration.may_fit()) least = std::min(least, exploration.least_seconds_between());
  return least;
}

double least_seconds(Family family) {
  double least = std::numeric_limits<double>::infinity();
  for (const Exploration& exploration : family)
    if (exploration.may_fit()) least = std::min(least, exploration.least_seconds());
  return least;
}

bool admit(const Incumbents& incumbents, Family family) {
  return std::any_of(family.begin(), family.end(), [&](const Exploration& exploration) {
    return exploration.may_fit() && incumbents.admit(exploration);
  });
}

double least_seconds(const Kin& kin) {
  double least = std::numeric_limits<double>::infinity();
  for (const Family family : kin) least = std::min(least, least_seconds(family));
  return least;
}

bool admit(const Incumbents& incumbents, const Kin& kin) {
  return std::any_of(kin.begin(), kin.end(), [&](Family family) { return admit(incumbents, family); });
}

void expand(const Kin& kin, const Incumbents& incumbents, const SearchSpace& space, const Evaluator& evaluate) {
  Runner runner(space, kin.front().front().parallelism(), evaluate, links_of(kin));
  Bar bar = incumbents.bar_for(kin.front().front());
  Kin order = kin;
  std::stable_sort(order.begin(), order.end(), [](Family a, Family b) { return least_seconds(a) < least_seconds(b); });
  for (const Family family : order) expand(family, runner, bar);
}

}  // namespace shardplan
