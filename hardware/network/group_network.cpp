// What a group of mesh axes reaches on the links that it has.
#include <algorithm>
#include <bit>
#include <hardware/network/mesh_embedding.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

// A switch lets every device send at full rate to any peer. In a full mesh a device has one link to each peer, so a
// group of n uses n-1 of them, and a shift one.
GroupRates MeshEmbedding::rates_in_node(int size) const {
  const double link = links_.chip_to_chip, peers = size - 1;
  const double exchanging = link / link_efficiency_ * exchange_efficiency_;
  switch (fabric_) {
    case FabricKind::switched:
      return {size, link, exchanging, link, size - 1};
    case FabricKind::full_mesh:
      return {size, peers * link, peers * exchanging, link, 1};
    case FabricKind::torus:
    case FabricKind::graph:
      break;
  }
  throw InternalError("no nodes to compute rates in");
}

// Devices are taken in mesh order. Link latencies are in `waits`; hops are steps.
RoutedGroup MeshEmbedding::routed_on_graph(const Members& members) const {
  GraphGroups groups;
  for (const auto& group : groups_of(members)) {
    groups.emplace_back();
    for (const DeviceCoordinates& at : group) groups.back().push_back(at[0]);
  }
  RoutedGroup routed = graph_->routed(groups);
  routed.rates.ring *= link_efficiency_;
  routed.rates.exchange *= exchange_efficiency_;
  routed.rates.shift *= link_efficiency_;
  return routed;
}

RoutedGroup MeshEmbedding::inside(const Members& members) const {
  if (members.inside == 1) return {};
  if (graph_) return routed_on_graph(members);
  const std::string words = describe_inside(members);
  if (ends_at_node(fabric_)) return {rates_in_node(members.inside), words};
  return {path_.empty() ? rates_on_torus(members) : rates_on_path(members), words};
}

GroupRates MeshEmbedding::rates_outside(int size) const { return {size, scale_out_, scale_out_, scale_out_, 0}; }

// Fixed cost: the collective itself, a hop latency for each link on the longest way, and a round trip for each of the
// log2(slices) rounds of a tree between slices or nodes.
GroupNetwork MeshEmbedding::network(const AxisList& axes, GroupSpan span) const {
  Members members = members_of(axes);
  if (span == GroupSpan::inside_slices) members.outside = 1;
  if (span == GroupSpan::between_slices) members.inside = 1, members.is_in.assign(ici_.size(), 0);
  const RoutedGroup within = inside(members);
  const GroupRates rates = nested(within.rates, rates_outside(members.outside));
  if (rates.size == 1) return {1, {links_.chip_to_chip}, {links_.chip_to_chip}, {links_.chip_to_chip}, {}, "1 device"};
  const int rounds = std::bit_width(static_cast<unsigned>(members.outside) - 1);
  const double hops = graph_ ? rates.waits : rates.hops * hop_latency_;
  const double latency = collective_latency_ + hops + rounds * scale_out_latency_;
  GroupNetwork network{rates.size, {rates.ring}, {rates.exchange}, {rates.shift}, {latency},
                       describe(members, within.words)};
  network.protocols = protocols_on(rates, {rounds * scale_out_latency_});
  for (std::size_t i = 0; i < network.protocols.size(); ++i) {
    const Seconds small = network.protocols[i].fixed + network.protocols[i].steps;
    network.latency = i == 0 ? small : std::min(network.latency, small);
  }
  return network;
}

std::vector<ProtocolCost> MeshEmbedding::protocols_on(const GroupRates& rates, Seconds outside) const {
  std::vector<ProtocolCost> costs;
  for (const Protocol& protocol : protocols_)
    costs.push_back({Seconds{protocol.base_latency.value} + outside, {rates.hops * protocol.step_latency.value},
                     protocol.bandwidth_share.value});
  return costs;
}

}  // namespace shardplan
