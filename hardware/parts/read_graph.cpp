#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <formats/read_figure.hpp>
#include <hardware/parts/read_generated_graph.hpp>
#include <hardware/parts/read_graph.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr int most_devices = 1024, most_nodes = 4096, most_lanes = 1024;

LinkKind read_link_kind(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  LinkKind kind{object.text("name"), {read_figure(object, "bandwidth", Dimension::bytes_per_second).value},
                {read_figure(object, "latency", Dimension::seconds).value}};
  object.finish();
  return kind;
}

std::vector<LinkKind> read_link_kinds(StrictObject& object) {
  std::vector<LinkKind> kinds;
  for (const auto& value : object.array("link_kinds")) {
    LinkKind kind = read_link_kind(value, fmt::format("{}.link_kinds[{}]", object.where(), kinds.size()));
    const auto same_name = [&](const LinkKind& other) { return other.name == kind.name; };
    if (std::any_of(kinds.begin(), kinds.end(), same_name))
      object.fail("link_kinds", fmt::format("kinds of different names: {} is there twice", kind.name));
    kinds.push_back(std::move(kind));
  }
  if (kinds.empty()) object.fail("link_kinds", "at least one kind of link");
  return kinds;
}

/// Nodes as the profile calls them.
class NamedNodes {
 public:
  explicit NamedNodes(std::vector<GraphNode>& nodes) : nodes_(nodes) {}

  void add(StrictObject& object, const std::string& key, bool forwards) {
    for (const std::string& name : object.texts(key)) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end())
        object.fail(key, fmt::format("nodes of different names: {} is there twice", name));
      names_.push_back(name);
      nodes_.push_back({name, forwards});
    }
    if (nodes_.size() > most_nodes) object.fail(key, fmt::format("at most {} nodes with the others", most_nodes));
  }

  std::vector<int> read(StrictObject& object, const std::string& key) const {
    std::vector<int> found;
    for (const std::string& name : object.texts(key)) {
      const auto place = std::find(names_.begin(), names_.end(), name);
      if (place == names_.end()) throw InputError(fmt::format("{}: {}", object.where(), unknown_name("node", name, names_)));
      found.push_back(static_cast<int>(place - names_.begin()));
    }
    if (found.empty()) object.fail(key, "at least one node: links join two");
    return found;
  }

 private:
  std::vector<GraphNode>& nodes_;
  std::vector<std::string> names_;
};

/// A link from each node of `from` to each of `to`.
void add_links(NetworkGraph& graph, StrictObject object, const NamedNodes& nodes) {
  const int kind = read_kind(object, "kind", graph.kinds);
  const int lanes = object.has("lanes") ? read_graph_count(object, "lanes", most_lanes) : 1;
  const auto from = nodes.read(object, "from"), to = nodes.read(object, "to");
  for (const int one : from)
    for (const int other : to) {
      if (one == other) object.fail("to", fmt::format("other nodes than {}: a link joins two", graph.nodes[one].name));
      add_link(graph, one, other, kind, lanes);
    }
  object.finish();
}

NetworkGraph read_listed(StrictObject& object, std::vector<LinkKind> kinds) {
  NetworkGraph graph;
  graph.kinds = std::move(kinds);
  NamedNodes nodes(graph.nodes);
  nodes.add(object, "devices", object.flag_or("devices_forward", false));
  graph.devices = static_cast<int>(graph.nodes.size());
  if (graph.devices < 1) object.fail("devices", "at least one device");
  if (object.has("switches")) nodes.add(object, "switches", true);
  std::size_t index = 0;
  for (const auto& value : object.array("links"))
    add_links(graph, {value, fmt::format("{}.links[{}]", object.where(), index++)}, nodes);
  return finished_graph(std::move(graph));
}

void check_reachable(const NetworkGraph& graph, const StrictObject& object) {
  for (int device = 0; !graph.grid && device < graph.devices; ++device)
    for (int other = 0; other < graph.devices; ++other)
      if (graph.distance(other, device) < 0)
        object.fail("links", fmt::format("links that join all devices: {} can't reach {}{}", graph.nodes[other].name,
                                         graph.nodes[device].name,
                                         graph.nodes[other].forwards ? "" : " (devices_forward is false)"));
}

/// Not to every device: the switch of a node has none to other nodes' where devices don't forward.
void check_switches(const NetworkGraph& graph, const StrictObject& object) {
  const auto joins_a_device = [&](int node) {
    for (int device = 0; device < graph.devices; ++device)
      if (graph.distance(node, device) >= 0) return true;
    return false;
  };
  for (int node = graph.devices; !graph.grid && node < static_cast<int>(graph.nodes.size()); ++node)
    if (!joins_a_device(node))
      object.fail("links", fmt::format("links of every switch: {} has none to a device", graph.nodes[node].name));
}

}  // namespace

int read_kind(StrictObject& object, const std::string& key, const std::vector<LinkKind>& kinds) {
  return kind_named(object, object.text(key), kinds);
}

int kind_named(const StrictObject& object, const std::string& name, const std::vector<LinkKind>& kinds) {
  std::vector<std::string> known;
  for (const LinkKind& kind : kinds) {
    if (kind.name == name) return static_cast<int>(known.size());
    known.push_back(kind.name);
  }
  throw InputError(fmt::format("{}: {}", object.where(), unknown_name("kind of link", name, known)));
}

int read_graph_count(StrictObject& object, const std::string& key, int most) {
  const double count = object.number(key);  // 1e9 is a whole number
  if (count != std::floor(count) || count < 1 || count > most)
    object.fail(key, fmt::format("a whole number from 1 to {}", most));
  return static_cast<int>(count);
}

NetworkGraph read_graph(StrictObject object) {
  auto kinds = read_link_kinds(object);
  const bool is_generated = object.has("generated");
  NetworkGraph graph = is_generated ? read_generated_graph(object.object("generated"), kinds)
                                    : read_listed(object, std::move(kinds));
  if (graph.devices > most_devices)
    object.fail(is_generated ? "generated" : "devices", fmt::format("at most {} devices", most_devices));
  check_reachable(graph, object);
  check_switches(graph, object);
  object.text("source");
  object.finish();
  return graph;
}

}  // namespace shardplan
