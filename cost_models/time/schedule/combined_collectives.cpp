#include <algorithm>
#include <cost_models/time/schedule/combined_collectives.hpp>
#include <cost_models/time/schedule/issued_body.hpp>
#include <numeric>
#include <optional>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// One collective of the combined program.
struct Combined {
  ScheduledCollective move;
  CombinedKind kind;
};

struct Combination {
  std::vector<Combined> all;
  std::vector<std::size_t> of;  ///< by move: the one of `all` that it is a part of
};

/// Whether all parts are made before any is needed: none follows from another.
bool are_independent(const ScheduledCollective& a, const ScheduledCollective& b) {
  return std::max(a.made_by, b.made_by) < std::min(a.needed_by, b.needed_by);
}

/// Gathers are combined in the order of their use; sums in that of their making.
bool takes(const Combined& combined, const ScheduledCollective& move, const CombinedKind& kind) {
  return kind.threshold.value > 0 && combined.kind.kind == kind.kind && combined.kind.axes == kind.axes &&
         combined.move.asynchronous == move.asynchronous && combined.kind.bytes + kind.bytes <= kind.threshold &&
         are_independent(combined.move, move);
}

void add(Combined& combined, const ScheduledCollective& move, const CombinedKind& kind) {
  combined.move.seconds += move.seconds;
  combined.move.made_by = std::max(combined.move.made_by, move.made_by);
  combined.move.needed_by = std::min(combined.move.needed_by, move.needed_by);
  combined.kind.bytes += kind.bytes;
}

Combination combine(const std::vector<ScheduledCollective>& moves, const std::vector<CombinedKind>& kinds) {
  std::vector<std::size_t> order(moves.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(moves[a].needed_by, moves[a].made_by) < std::pair(moves[b].needed_by, moves[b].made_by);
  });
  Combination made{{}, std::vector<std::size_t>(moves.size())};
  std::vector<Combined>& all = made.all;
  all.reserve(moves.size());
  for (const std::size_t i : order) {
    const auto last =
        std::find_if(all.rbegin(), all.rend(), [&](const Combined& c) { return takes(c, moves[i], kinds[i]); });
    made.of[i] = last == all.rend() ? all.size() : static_cast<std::size_t>(&*last - all.data());
    if (made.of[i] < all.size())
      add(all[made.of[i]], moves[i], kinds[i]);
    else
      all.push_back({moves[i], kinds[i]});
  }
  return made;
}

/// The steps that make the parts' operands.
std::vector<Leaf> leaves_of(const std::vector<ScheduledCollective>& moves, const std::vector<std::size_t>& of) {
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (moves[i].of_leaf) leaves.push_back({moves[i].made_by, of[i]});
  return leaves;
}

std::vector<ScheduledCollective> moves_of(const std::vector<Combined>& all) {
  std::vector<ScheduledCollective> moves;
  moves.reserve(all.size());
  for (const Combined& c : all) moves.push_back(c.move);
  return moves;
}

std::optional<CompilerSetting> threshold_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return CompilerSetting::all_gather_combine_threshold;
    case CollectiveKind::reduce_scatter:
      return CompilerSetting::reduce_scatter_combine_threshold;
    case CollectiveKind::all_reduce:
      return CompilerSetting::all_reduce_combine_threshold;
    case CollectiveKind::all_to_all:
    case CollectiveKind::ragged_all_to_all:
    case CollectiveKind::collective_permute:
      return std::nullopt;
  }
  throw InternalError("unknown CollectiveKind");
}

}  // namespace

Bytes combine_threshold(const Compiler& compiler, CollectiveKind kind) {
  const auto threshold = threshold_of(kind);
  return threshold ? compiler.setting(*threshold).value_or(Bytes{}) : Bytes{};
}

Bytes combine_limit(const Compiler& compiler, CollectiveKind kind) {
  const auto threshold = threshold_of(kind);
  if (!threshold) return {};
  return compiler.settings.contains(*threshold) ? combine_threshold(compiler, kind) : compiler.overlap.combines_up_to;
}

Bytes result_of(const Collective& collective) {
  const bool scattered = collective.kind == CollectiveKind::reduce_scatter;
  return {scattered ? collective.bytes.value / collective.group_size : collective.bytes.value};
}

BodyWaits schedule_combined(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
                            const std::vector<CombinedKind>& kinds, const OverlapRules& overlap) {
  const auto [all, of] = combine(moves, kinds);
  const BodyWaits waits = overlap.one_in_flight ? exposed_as_issued(steps, moves_of(all), leaves_of(moves, of))
                                                : exposed_in_body(steps, moves_of(all));
  BodyWaits found{std::vector<Seconds>(moves.size()), waits.contention};
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (const Seconds together = all[of[i]].move.seconds; together.value > 0)
      found.exposed[i] = waits.exposed[of[i]] * (moves[i].seconds / together);
  return found;
}

PlacedCombination place_combined(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
                                 const std::vector<CombinedKind>& kinds, const OverlapRules& overlap) {
  const auto [all, of] = combine(moves, kinds);
  PlacedCombination placed{overlap.one_in_flight ? place_as_issued(steps, moves_of(all), leaves_of(moves, of))
                                                 : place_body(steps, moves_of(all)),
                           std::vector<std::vector<std::size_t>>(all.size())};
  for (std::size_t i = 0; i < moves.size(); ++i) placed.parts[of[i]].push_back(i);
  return placed;
}

}  // namespace shardplan
