#include <fmt/format.h>

#include <algorithm>
#include <hardware/network/graph/gather_levels.hpp>
#include <map>
#include <numeric>

namespace shardplan {
namespace {

constexpr int most_levels = 4;
constexpr double as_fast = 1 + 1e-9;  ///< rates that differ by rounding alone are equal

struct Level {
  int size = 1;
  double rate = 0;
  int steps = 0;
  Seconds latency;
  std::vector<bool> uses;  ///< of each link of the graph
  std::vector<bool> kinds;
};

GraphGroups members_of_level(const GraphGroups& groups, int stride, int size) {
  GraphGroups parts;
  for (const auto& group : groups)
    for (std::size_t block = 0; block < group.size(); block += static_cast<std::size_t>(stride * size))
      for (int offset = 0; offset < stride; ++offset) {
        auto& part = parts.emplace_back();
        for (int k = 0; k < size; ++k) part.push_back(group[block + static_cast<std::size_t>(offset + k * stride)]);
      }
  return parts;
}

Seconds latency_of(const NetworkGraph& graph, const std::vector<int>& way) {
  Seconds sum;
  for (const int link : way) sum += graph.kinds[graph.links[link].kind].latency;
  return sum;
}

bool is_port(const NetworkGraph& graph, int link) { return graph.kinds[graph.links[link].kind].is_port; }

int first_link_beyond_port(const NetworkGraph& graph, const std::vector<int>& way) {
  return *std::find_if(way.begin(), way.end(), [&](int link) { return !is_port(graph, link); });
}

/// A member with one link to both its neighbours gains nothing from sending both ways.
RingWay ring_way(const NetworkGraph& graph, const GraphGroups& parts) {
  for (const auto& part : parts)
    for (std::size_t i = 0; part.size() > 2 && i < part.size(); ++i) {
      const int before = part[(i + part.size() - 1) % part.size()], after = part[(i + 1) % part.size()];
      const auto back = one_way(graph, part[i], before), ahead = one_way(graph, part[i], after);
      if (first_link_beyond_port(graph, back) != first_link_beyond_port(graph, ahead)) return RingWay::both;
    }
  return RingWay::one;
}

/// Of the ways (one_way) to one device. Those of all devices to it have most of their nodes in common.
class WayLatencies {
 public:
  WayLatencies(const NetworkGraph& graph, int to) : graph_(graph), to_(to) {}

  Seconds from(int node) {
    if (graph_.grid) return latency_of(graph_, one_way(graph_, node, to_));
    if (known_.empty()) known_.resize(graph_.nodes.size(), unknown);
    if (node == to_) return {};
    if (known_[node] == unknown) {
      const GraphLink& link = graph_.links[first_of_way(graph_, node, to_)];
      known_[node] = graph_.kinds[link.kind].latency.value + from(link.to).value;
    }
    return {known_[node]};
  }

 private:
  static constexpr double unknown = -1;
  const NetworkGraph& graph_;
  int to_;
  std::vector<double> known_;
};

struct Wait {
  double seconds = 0;
  int steps = 0;
};

/// What the last piece to arrive has waited for: round the ring one way, or the shorter of both.
Wait ring_wait(const NetworkGraph& graph, const std::vector<int>& part, RingWay way) {
  const std::size_t n = part.size();
  std::vector<double> ahead(n), back(n);
  for (std::size_t i = 0; i < n; ++i) {
    ahead[i] = latency_of(graph, one_way(graph, part[i], part[(i + 1) % n])).value;
    back[i] = latency_of(graph, one_way(graph, part[(i + 1) % n], part[i])).value;
  }
  Wait longest;
  for (std::size_t from = 0; from < n; ++from) {
    Wait forward{0, 0}, round{std::accumulate(back.begin(), back.end(), 0.0), static_cast<int>(n)};
    for (std::size_t steps = 1; steps < n; ++steps) {
      forward = {forward.seconds + ahead[(from + steps - 1) % n], forward.steps + 1};
      round = {round.seconds - back[(from + steps - 1) % n], round.steps - 1};
      const Wait& first = way == RingWay::both && round.seconds < forward.seconds ? round : forward;
      if (first.seconds > longest.seconds) longest = first;
    }
  }
  return longest;
}

Seconds direct_latency(const NetworkGraph& graph, const std::vector<int>& part) {
  Seconds longest;
  for (const int to : part) {
    WayLatencies latencies(graph, to);
    for (const int from : part)
      if (from != to) longest = std::max(longest, latencies.from(from));
  }
  return longest;
}

void note_links(Level& level, const NetworkGraph& graph, const LinkTraffic& traffic) {
  level.kinds.resize(graph.kinds.size());
  for (std::size_t link = 0; link < graph.links.size(); ++link) {
    level.uses.push_back(traffic.uses(static_cast<int>(link)) && !is_port(graph, static_cast<int>(link)));
    if (level.uses.back()) level.kinds[graph.links[link].kind] = true;
  }
}

Level measured_level(const NetworkGraph& graph, const GraphGroups& parts) {
  const int size = static_cast<int>(parts.front().size());
  const RingWay way = ring_way(graph, parts);
  const LinkTraffic ring = ring_traffic(graph, parts, way);
  Level level{size, ring_rate(ring), 0, {}, {}, {}};
  const LinkTraffic direct = exchange_traffic(graph, parts);
  const bool is_direct = exchange_rate(direct, size) > level.rate * as_fast;
  if (is_direct) level.rate = exchange_rate(direct, size);
  for (const auto& part : parts) {
    const Wait wait = is_direct ? Wait{direct_latency(graph, part).value, 1} : ring_wait(graph, part, way);
    level.steps = std::max(level.steps, wait.steps);
    level.latency = std::max(level.latency, Seconds{wait.seconds});
  }
  note_links(level, graph, is_direct ? direct : ring);
  return level;
}

/// Levels that work side by side.
struct Turn {
  int size = 1;
  double rate = 0;
  std::vector<const Level*> levels;
};

bool shares_links(const Level& a, const Level& b) {
  for (std::size_t link = 0; link < a.uses.size(); ++link)
    if (a.uses[link] && b.uses[link]) return true;
  return false;
}

bool works_beside(const Level& level, const Turn& turn) {
  return std::all_of(turn.levels.begin(), turn.levels.end(),
                     [&](const Level* other) { return other->kinds == level.kinds && !shares_links(*other, level); });
}

std::vector<Turn> turns_of(const std::vector<const Level*>& levels) {
  std::vector<Turn> turns;
  for (const Level* level : levels) {
    auto turn = std::find_if(turns.begin(), turns.end(), [&](const Turn& t) { return works_beside(*level, t); });
    if (turn == turns.end()) turn = turns.insert(turn, Turn{});
    turn->size *= level->size;
    turn->rate += level->rate;
    turn->levels.push_back(level);
  }
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.rate < b.rate; });
  return turns;
}

// n = 8, first 2 at 50 GB/s, then 4 at 300: of S = 8 GB 1 GB arrives in the first turn, 6 GB in the second: 20 + 20 ms,
// 7 GB in 40 ms: 175 GB/s.
double rate_of(const std::vector<Turn>& turns) {
  double members = 1, shares = 0, seconds = 0;
  for (const Turn& turn : turns) members *= turn.size;
  double done = 1 / members;
  for (const Turn& turn : turns) {
    const double share = done * (turn.size - 1);
    shares += share;
    seconds += share / turn.rate;
    done *= turn.size;
  }
  return shares / seconds;
}

std::string kinds_text(const NetworkGraph& graph, const std::vector<bool>& kinds) {
  std::string text;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (kinds[kind]) text += fmt::format("{}{}", text.empty() ? "" : " and ", graph.kinds[kind].name);
  return text;
}

GatherWay way_of(const NetworkGraph& graph, const std::vector<const Level*>& levels) {
  const std::vector<Turn> turns = turns_of(levels);
  GatherWay way{rate_of(turns), 0, {}, ""};
  for (const Turn& turn : turns)
    for (const Level* level : turn.levels) {
      way.steps += level->steps;
      way.latency += level->latency;
      way.words += fmt::format("{}{} over {}", way.words.empty() ? "" : ", ", level->size, kinds_text(graph, level->kinds));
    }
  return way;
}

/// Tries all levels of the groups, each measured once.
class GatherSearch {
 public:
  GatherSearch(const NetworkGraph& graph, const GraphGroups& groups) : graph_(graph), groups_(groups) {}

  GatherWay fastest() {
    for (std::size_t count = 1; count <= most_levels; ++count)
      try_levels(1, static_cast<int>(groups_.front().size()), count);
    return best_;
  }

 private:
  /// `left` members are to be written as `count` more levels; those so far make `stride`.
  void try_levels(int stride, int left, std::size_t count) {
    if (count == 1) return try_last(stride, left);
    for (int size = 2; size * 2 <= left; ++size) {
      if (left % size != 0) continue;
      levels_.push_back(&level(stride, size));
      try_levels(stride * size, left / size, count - 1);
      levels_.pop_back();
    }
  }

  void try_last(int stride, int size) {
    levels_.push_back(&level(stride, size));
    const GatherWay way = way_of(graph_, levels_);
    if (way.rate > best_.rate * as_fast) best_ = way;
    levels_.pop_back();
  }

  const Level& level(int stride, int size) {
    const auto known = known_.find({stride, size});
    if (known != known_.end()) return known->second;
    return known_[{stride, size}] = measured_level(graph_, members_of_level(groups_, stride, size));
  }

  const NetworkGraph& graph_;
  const GraphGroups& groups_;
  std::map<std::pair<int, int>, Level> known_;
  std::vector<const Level*> levels_;
  GatherWay best_;
};

}  // namespace

GatherWay fastest_gather(const NetworkGraph& graph, const GraphGroups& groups) {
  return GatherSearch(graph, groups).fastest();
}

}  // namespace shardplan
