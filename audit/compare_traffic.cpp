#include <algorithm>
#include <audit/compare_traffic.hpp>
#include <cctype>
#include <map>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

TrafficClass class_of(const ProgramCollective& program) {
  switch (program.ring) {
    case RingOf::nothing:
      return class_of(program.collective.kind);
    case RingOf::all_gather:
      return TrafficClass::gather;
    case RingOf::reduce_scatter:
      return TrafficClass::reduce;
  }
  throw InternalError("unknown RingOf");
}

bool is_identifier(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); });
}

/// JAX's named scopes stand in front: "wi_0/EBCM,EMH -> EBCH/dot_general".
std::string tensor_of(const std::string& op, const std::string& shape) {
  const auto slash = op.find('/');
  const auto first = op.substr(0, slash);
  if (slash != op.npos && first != "shard_map" && is_identifier(first)) return first;
  return op + (op.empty() ? "" : " ") + shape;
}

/// "moe_layers/MoeBlock_0/wi_0" → "wi_0"
std::string tensor_of(const NamedCollective& planned) { return planned.op.substr(planned.op.rfind('/') + 1); }

using Place = std::tuple<TrafficClass, AxisList, Phase>;

Place place_of(const TrafficItem& item) { return {item.traffic, item.collective.axes, item.collective.phase}; }

Traffic traffic_of(const Collective& c) { return {c.moved(), c.seconds}; }

/// `items` less what `others` have of the same bytes in one execution.
std::vector<TensorTraffic> without_counterparts(const std::vector<const TrafficItem*>& items,
                                                const std::vector<const TrafficItem*>& others) {
  std::map<std::int64_t, std::int64_t> counterparts;
  for (const auto* other : others) counterparts[other->collective.bytes.value] += other->collective.executions;
  std::map<std::pair<std::string, ExpertWeight>, Traffic> left;
  for (const auto* item : items) {
    const Collective& c = item->collective;
    auto& available = counterparts[c.bytes.value];
    const auto matched = std::min(available, c.executions);
    available -= matched;
    if (matched == c.executions) continue;
    const auto rest = c.executions - matched;
    left[{item->tensor, item->expert_weight}] +=
        Traffic{c.bytes * rest, c.seconds * (static_cast<double>(rest) / static_cast<double>(c.executions))};
  }
  std::vector<TensorTraffic> result;
  for (const auto& [tensor, traffic] : left) result.push_back({tensor.first, tensor.second, traffic});
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.traffic.bytes > b.traffic.bytes; });
  return result;
}

struct Sides {
  std::vector<const TrafficItem*> found, expected;
};

Traffic sum_of(const std::vector<const TrafficItem*>& items) {
  Traffic sum;
  for (const auto* item : items) sum += traffic_of(item->collective);
  return sum;
}

Traffic all_reduces_of(const std::vector<const TrafficItem*>& items) {
  Traffic sum;
  for (const auto* item : items)
    if (item->collective.kind == CollectiveKind::all_reduce) sum += traffic_of(item->collective);
  return sum;
}

/// With its share of the time that the whole takes.
TrafficItem item_of(const CollectivePart& part, TrafficItem whole) {
  Collective& c = whole.collective;
  if (c.bytes.value > 0)
    c.seconds = c.seconds * (static_cast<double>(part.bytes.value) / static_cast<double>(c.bytes.value));
  c.bytes = part.bytes;
  c.phase = part.phase;
  whole.collective.op = part.op;
  whole.tensor = tensor_of(part.op, part.shape);
  whole.expert_weight = expert_weight_of(whole.tensor);
  return whole;
}

}  // namespace

ExpertWeight expert_weight_of(const std::string& scope) {
  if (scope == "wi_0" || scope == "wi_1") return ExpertWeight::in;
  return scope == "wo" ? ExpertWeight::out : ExpertWeight::none;
}

std::vector<TrafficItem> items_of(const ProgramTraffic& program) {
  std::vector<TrafficItem> items;
  for (const auto& p : program.collectives) {
    const std::string tensor = tensor_of(p.collective.op, p.shape);
    const TrafficItem whole{class_of(p), p.collective, tensor, expert_weight_of(tensor), p.scattered,
                            p.fit == GroupFit::no_axes, p.rematerialized};
    if (p.parts.empty()) items.push_back(whole);
    for (const CollectivePart& part : p.parts) items.push_back(item_of(part, whole));
  }
  return items;
}

std::vector<TrafficItem> items_of(const std::vector<NamedCollective>& plan) {
  std::vector<TrafficItem> items;
  for (const auto& c : plan) items.push_back({class_of(c.kind), c, tensor_of(c)});
  return items;
}

std::vector<TrafficChange> compare_traffic(const std::vector<TrafficItem>& found,
                                           const std::vector<TrafficItem>& expected) {
  std::map<Place, Sides> places;
  for (const auto& item : found) places[place_of(item)].found.push_back(&item);
  for (const auto& item : expected) places[place_of(item)].expected.push_back(&item);
  std::vector<TrafficChange> changes;
  for (const auto& [place, sides] : places) {
    const auto& [traffic, axes, phase] = place;
    changes.push_back({traffic, axes, phase, sum_of(sides.found), sum_of(sides.expected), all_reduces_of(sides.found),
                       all_reduces_of(sides.expected), without_counterparts(sides.found, sides.expected),
                       without_counterparts(sides.expected, sides.found)});
  }
  return changes;
}

}  // namespace shardplan
