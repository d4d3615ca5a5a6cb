#include <algorithm>
#include <cstdlib>
#include <hardware/network/graph/link_traffic.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Where along a dim a chip is.
struct Places {
  const TorusGrid& grid;
  int stride(int dim) const {
    int chips = 1;
    for (std::size_t later = static_cast<std::size_t>(dim) + 1; later < grid.extents.size(); ++later)
      chips *= grid.extents[later];
    return chips;
  }
  int at(int chip, int dim) const { return chip / stride(dim) % grid.extents[dim]; }
  int moved(int chip, int dim, int to) const { return chip + (to - at(chip, dim)) * stride(dim); }
};

/// Steps from one place along a dim to another: the shorter way, and whether the other is as short.
struct Steps {
  int count = 0;
  bool tie = false;
};

Steps steps_along(const TorusGrid& grid, int dim, int from, int to) {
  const int extent = grid.extents[dim], ahead = (to - from + extent) % extent, behind = ahead - extent;
  if (!grid.closed[dim]) return {to - from};
  return {ahead <= -behind ? ahead : behind, ahead == -behind};
}

int dims_of(const TorusGrid& grid) { return static_cast<int>(grid.extents.size()); }

std::vector<int> one_way_over_grid(const TorusGrid& grid, int from, int to) {
  std::vector<int> way;
  const Places places{grid};
  int chip = from / grid.devices_per_chip;
  const int last = to / grid.devices_per_chip;
  const bool changes = from % grid.devices_per_chip != to % grid.devices_per_chip;
  if (changes) way.push_back(grid.siblings[from]);
  const int sender = changes ? from ^ 1 : from;
  if (chip != last && !grid.leave.empty()) way.push_back(grid.leave[sender]);
  for (int dim = 0; dim < dims_of(grid); ++dim) {
    const int goal = places.at(last, dim);
    int left = steps_along(grid, dim, places.at(chip, dim), goal).count;
    for (const int step = left < 0 ? -1 : 1; left != 0; left -= step) {
      way.push_back(grid.step(chip, dim, step));
      chip = places.moved(chip, dim, (places.at(chip, dim) + step + grid.extents[dim]) % grid.extents[dim]);
    }
  }
  if (from / grid.devices_per_chip != last && !grid.enter.empty()) way.push_back(grid.enter[to]);
  return way;
}

}  // namespace

LinkTraffic::LinkTraffic(const NetworkGraph& graph)
    : graph_(graph), bytes_(graph.links.size()), waiting_(graph.nodes.size()) {}

void LinkTraffic::send(int from, int to, double bytes) {
  if (graph_.grid) return send_over_grid(from, to, bytes);
  put(from, to, bytes);
  send_over_shortest_ways(to);
}

void LinkTraffic::send_all(const std::vector<int>& members, int to, double bytes) {
  for (const int from : members) {
    if (from == to) continue;
    if (graph_.grid) send_over_grid(from, to, bytes);
    else put(from, to, bytes);
  }
  if (!graph_.grid) send_over_shortest_ways(to);
}

void LinkTraffic::walk(int chip, int dim, int steps, double bytes) {
  const TorusGrid& grid = *graph_.grid;
  const int step = steps < 0 ? -1 : 1, extent = grid.extents[dim], stride = Places{grid}.stride(dim);
  int at = Places{grid}.at(chip, dim);
  for (int taken = 0; taken < std::abs(steps); ++taken) {
    bytes_[grid.step(chip, dim, step)] += bytes;
    const int next = (at + step + extent) % extent;
    chip += (next - at) * stride;
    at = next;
  }
}

void LinkTraffic::send_over_grid(int from, int to, double bytes) {
  const TorusGrid& grid = *graph_.grid;
  const Places places{grid};
  const int per_chip = grid.devices_per_chip, last = to / per_chip;
  int chip = from / per_chip;
  const bool changes = from % per_chip != to % per_chip;
  if (changes) bytes_[grid.siblings[from]] += bytes;
  if (chip != last && !grid.leave.empty()) {
    bytes_[grid.leave[changes ? from ^ 1 : from]] += bytes;
    bytes_[grid.enter[to]] += bytes;
  }
  for (int dim = 0; dim < dims_of(grid); ++dim) {
    const int goal = places.at(last, dim);
    const Steps steps = steps_along(grid, dim, places.at(chip, dim), goal);
    if (steps.tie) walk(chip, dim, steps.count, bytes / 2), walk(chip, dim, steps.count - grid.extents[dim], bytes / 2);
    if (!steps.tie) walk(chip, dim, steps.count, bytes);
    chip = places.moved(chip, dim, goal);
  }
}

void LinkTraffic::put(int node, int to, double bytes) {
  const auto distance = static_cast<std::size_t>(graph_.distance(node, to));
  if (nodes_at_.size() <= distance) nodes_at_.resize(distance + 1);
  if (waiting_[node] == 0) nodes_at_[distance].push_back(node);
  waiting_[node] += bytes;
}

void LinkTraffic::pass_on(int node, int to) {
  const int begin = graph_.first_link[node], end = graph_.first_link[node + 1];
  int lead = 0;
  for (int link = begin; link < end; ++link) lead += graph_.leads_to(graph_.links[link], to) ? 1 : 0;
  for (int link = begin; link < end; ++link) {
    if (!graph_.leads_to(graph_.links[link], to)) continue;
    put(graph_.links[link].to, to, waiting_[node] / lead);
    bytes_[link] += waiting_[node] / lead;
  }
  waiting_[node] = 0;
}

/// What waits farthest away first: all of it has met by the time that it goes on.
void LinkTraffic::send_over_shortest_ways(int to) {
  for (std::size_t distance = nodes_at_.size(); distance-- > 0;) {
    if (distance > 0)
      for (const int node : nodes_at_[distance]) pass_on(node, to);
    nodes_at_[distance].clear();
  }
  waiting_[to] = 0;
}

double LinkTraffic::busiest() const {
  double seconds = 0;
  for (std::size_t link = 0; link < bytes_.size(); ++link)
    if (bytes_[link] > 0) seconds = std::max(seconds, bytes_[link] / graph_.bandwidth(graph_.links[link]).value);
  return seconds;
}

std::vector<int> one_way(const NetworkGraph& graph, int from, int to) {
  if (graph.grid) return one_way_over_grid(*graph.grid, from, to);
  std::vector<int> way;
  for (int node = from; node != to; node = graph.links[way.back()].to) way.push_back(first_of_way(graph, node, to));
  return way;
}

int first_of_way(const NetworkGraph& graph, int from, int to) {
  for (int link = graph.first_link[from]; link < graph.first_link[from + 1]; ++link)
    if (graph.leads_to(graph.links[link], to)) return link;
  throw InternalError("a network that is not joined");
}

}  // namespace shardplan
