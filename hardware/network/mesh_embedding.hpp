#pragma once
// Which physical links the axes of a logical mesh get, and how fast a group of axes is on them.
//   embed(profile, slice, mesh, split)  →  an embedding, or why the torus cannot hold the mesh
//   embedding.network({fsdp})           →  "8 devices: ring of 4 along x, line of 2 along y" with its rates
// Placement is JAX's (torus_assignment.hpp, ring_order.hpp; row-major ranks on GPUs); rates are derived in
// group_rates.cpp and docs/hardware-profiles.md, on a graph by routing (graph/graph_fabric.hpp).
#include <hardware/network/graph/graph_fabric.hpp>
#include <hardware/network/routed_rates.hpp>
#include <hardware/network/torus_assignment.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <variant>
#include <vector>

namespace shardplan {

class MeshEmbedding {
 public:
  /// The effective network of the devices that differ only in `axes` (any order), all such groups being busy at once.
  /// An empty list or axes of size 1: one device, no time.
  GroupNetwork network(const AxisList& axes, GroupSpan span = GroupSpan::whole) const;

  /// Coordinates of the devices of one slice (or GPU job without dcn axes) in mesh order; of a graph the device's number.
  std::vector<DeviceCoordinates> device_coordinates() const;

 private:
  friend std::variant<MeshEmbedding, Infeasible> embed(const HardwareProfile&, const Slice&, const Mesh&,
                                                       const DeviceOrder&);
  MeshEmbedding(const HardwareProfile& profile, const Slice& slice, const Mesh& mesh);

  /// A group of devices: how many in each slice (TPU) or node (GPU), times how many slices or nodes.
  struct Members {
    std::vector<char> is_in;  ///< for each mesh axis
    int inside = 1, outside = 1;
  };
  Members members_of(const AxisList& axes) const;

  RoutedGroup inside(const Members& members) const;
  GroupRates rates_on_torus(const Members& members) const;
  GroupRates rates_on_dim(const Members& members, std::size_t dim) const;
  GroupRates rates_on_path(const Members& members) const;
  void lay_along(std::vector<DeviceCoordinates> path);
  RoutedGroup routed_on_graph(const Members& members) const;
  GroupRates rates_in_node(int size) const;
  GroupRates rates_outside(int size) const;

  std::vector<DimPart> parts_on(const Members& members, std::size_t dim) const;
  DeviceCoordinates coordinates_on_torus(int device) const;
  DeviceGroups groups_of(const Members& members) const;
  std::vector<ProtocolCost> protocols_on(const GroupRates& rates, Seconds outside) const;
  std::string describe(const Members& members, const std::string& inside) const;
  std::string describe_inside(const Members& members) const;

  FabricKind fabric_;
  std::shared_ptr<const GraphFabric> graph_;
  Slice slice_;
  int devices_per_chip_, devices_per_node_;
  double link_efficiency_, exchange_efficiency_, joint_ring_efficiency_;
  LinkRates links_;   ///< link bandwidths times their efficiency
  double scale_out_;  ///< bytes/s of a device, times its efficiency
  double hop_latency_, collective_latency_, scale_out_latency_;
  std::vector<Protocol> protocols_;
  std::vector<int> ici_, dcn_;           ///< sizes of the mesh axes
  TorusAssignment assignment_;           ///< torus: sizes along x, y, z, core. GPUs: nodes, ranks in a node
  std::vector<DeviceCoordinates> path_;  ///< devices in mesh order on a graph, or where JAX lays them along a fixed path
  std::shared_ptr<const NetworkGraph> torus_;  ///< the links under such a path
};

/// Places `mesh` on the slices that its dcn factors ask for. Throws InputError when the ici factors do not multiply to
/// the devices of `slice`. Infeasible ("mesh-does-not-fit-torus"): an axis is not a product of whole torus dims and
/// allow_split_physical_axes (MaxText's flag of that name) is off; or custom_mesh names an order for other meshes. As in
/// MaxText, custom_mesh counts with several slices or with allow_split_physical_axes, and is passed over without.
std::variant<MeshEmbedding, Infeasible> embed(const HardwareProfile& profile, const Slice& slice, const Mesh& mesh,
                                              const DeviceOrder& order);

}  // namespace shardplan
