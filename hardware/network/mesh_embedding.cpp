#include <fmt/format.h>

#include <algorithm>
#include <hardware/network/hybrid_rings.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <numeric>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::size_t torus_dims = 3;

DimSizes shape_of(const Slice& slice, int devices_per_chip) {
  DimSizes shape{1, 1, 1, devices_per_chip};
  std::copy(slice.torus.begin(), slice.torus.end(), shape.begin());
  return shape;
}

std::string describe_dims(const DimSizes& sizes) {
  std::string text;
  for (const int size : sizes)
    if (size > 1) text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  return text.empty() ? "no dim" : text;
}

/// Ranks are row-major over the mesh, nodes hold consecutive ranks: the part of an axis inside a node and the part
/// across nodes. An axis that does not line up with the node counts as across nodes, which is the slower assumption.
TorusAssignment ranks_in_nodes(const std::vector<int>& sizes, int node) {
  TorusAssignment assignment(sizes.size(), DimSizes{1, 1, 1, 1});
  int stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    const int room = stride < node && node % stride == 0 ? node / stride : 1;
    const int inside = std::gcd(room, sizes[axis]);
    const bool lines_up = inside == room || inside == sizes[axis];
    assignment[axis][1] = lines_up ? inside : 1;
    assignment[axis][0] = sizes[axis] / assignment[axis][1];
    stride *= sizes[axis];
  }
  return assignment;
}

Infeasible no_dims_left(const UnplacedAxis& unplaced, const Slice& slice, const Mesh& mesh) {
  const MeshAxis& axis = mesh.axes[unplaced.axis];
  const long left = 1L * unplaced.left[0] * unplaced.left[1] * unplaced.left[2] * unplaced.left[3];
  return {ConstraintId::mesh_does_not_fit_torus,
          fmt::format("axis '{}' of size {} is not a product of whole torus dims: {} is left of {} ({}) for it; "
                      "allow_split_physical_axes=true would split a dim",
                      axis.name, axis.ici, describe_dims(unplaced.left), slice.name, fmt::join(slice.torus, "x")),
          axis.ici, left};
}

/// MaxText asks JAX for a grid of 16 x 16 and reorders it.
std::variant<std::vector<DeviceCoordinates>, Infeasible> custom_path(CustomMesh custom, const HardwareProfile& profile,
                                                                     const Slice& slice, const Mesh& mesh) {
  const int ring = ring_size(custom), rings = 256 / ring;
  if (slice.devices != 256 || !suits_hybrid_rings(custom, mesh))
    return Infeasible{ConstraintId::mesh_does_not_fit_torus,
                      fmt::format("custom_mesh={} needs slices of 256 devices under one axis of {} and one of {}; this "
                                  "is {} on slices of {}",
                                  name_of(custom), rings, ring, describe(mesh), slice.devices),
                      256, slice.devices};
  auto grid = embed(profile, slice, Mesh{{{"row", 16}, {"column", 16}}}, {});
  if (auto* refused = std::get_if<Infeasible>(&grid)) return std::move(*refused);
  return hybrid_rings(custom, std::get<MeshEmbedding>(grid).device_coordinates());
}

/// The box that each group fills, when all fill boxes of the same extents.
std::optional<DimSizes> common_box(const DeviceGroups& groups) {
  std::optional<DimSizes> common;
  for (const auto& group : groups) {
    DeviceCoordinates low = group.front(), high = low;
    for (const auto& at : group)
      for (std::size_t dim = 0; dim < at.size(); ++dim)
        low[dim] = std::min(low[dim], at[dim]), high[dim] = std::max(high[dim], at[dim]);
    DimSizes box;
    for (std::size_t dim = 0; dim < box.size(); ++dim) box[dim] = high[dim] - low[dim] + 1;
    const bool filled = 1L * box[0] * box[1] * box[2] * box[3] == static_cast<long>(group.size());
    if (!filled || (common && *common != box)) return std::nullopt;
    common = box;
  }
  return common;
}

/// Dims work side by side: an all-gather sends a share of the data first along each of them, so their rates add up
/// (each device's links are all busy), times `joint` where rings of more than two chips do so together; an exchange crosses
/// one after the other, so the busiest dim sets its time.
GroupRates side_by_side(const std::array<GroupRates, torus_dims>& dims, double joint) {
  GroupRates all;
  int rings = 0;
  double busiest = 0;  // seconds for a buffer of one byte
  for (const GroupRates& dim : dims) {
    if (dim.size == 1) continue;
    const double n = dim.size;
    busiest = std::max(busiest, (n - 1) / n / dim.exchange);
    all.shift = all.size == 1 ? dim.shift : std::min(all.shift, dim.shift);
    all.size *= dim.size;
    all.ring += dim.ring;
    if (dim.size > 2) ++rings;
    all.hops += dim.hops;
  }
  const double n = all.size;
  if (all.size > 1) all.exchange = (n - 1) / n / busiest;
  if (rings > 1) all.ring *= joint;
  return all;
}

/// Chips' links serve both their devices, which are busy at once.
GroupRates shared_by(int devices_per_chip, GroupRates rates) {
  rates.ring /= devices_per_chip;
  rates.exchange /= devices_per_chip;
  rates.shift /= devices_per_chip;
  return rates;
}

GroupRates die_to_die(int cores, double rate) { return {cores, rate, rate, rate, cores > 1 ? 1 : 0}; }

}  // namespace

MeshEmbedding::MeshEmbedding(const HardwareProfile& profile, const Slice& slice, const Mesh& mesh)
    : fabric_(profile.fabric),
      graph_(profile.graph),
      slice_(slice),
      devices_per_chip_(profile.devices_per_chip),
      devices_per_node_(profile.devices_per_chip * profile.chips_per_node),
      link_efficiency_(profile.link_efficiency.value),
      exchange_efficiency_(profile.exchange_efficiency ? profile.exchange_efficiency->value : link_efficiency_),
      joint_ring_efficiency_(profile.joint_ring_efficiency ? profile.joint_ring_efficiency->value : 1),
      scale_out_(profile.scale_out_bandwidth.value * profile.scale_out_efficiency.value),
      hop_latency_(profile.hop_latency ? profile.hop_latency->value : 0),
      collective_latency_(profile.collective_latency ? profile.collective_latency->value : 0),
      scale_out_latency_(profile.scale_out_latency.value),
      protocols_(profile.protocols) {
  links_.chip_to_chip = profile.link_bandwidth.value * link_efficiency_;
  if (profile.die_to_die_bandwidth) links_.die_to_die = profile.die_to_die_bandwidth->value * link_efficiency_;
  for (const MeshAxis& axis : mesh.axes) ici_.push_back(axis.ici), dcn_.push_back(axis.dcn);
}

std::variant<MeshEmbedding, Infeasible> embed(const HardwareProfile& profile, const Slice& slice, const Mesh& mesh,
                                              const DeviceOrder& order) {
  MeshEmbedding embedding(profile, slice, mesh);
  const auto& sizes = embedding.ici_;
  const long devices = std::accumulate(sizes.begin(), sizes.end(), 1L, std::multiplies<>());
  if (devices != slice.devices)
    throw InputError(
        fmt::format("mesh {} has {} devices a slice; {} has {}", describe(mesh), devices, slice.name, slice.devices));

  if (order.custom != CustomMesh::none && (order.allow_split_physical_axes || mesh.slices() > 1)) {
    auto path = custom_path(order.custom, profile, slice, mesh);
    if (auto* refused = std::get_if<Infeasible>(&path)) return std::move(*refused);
    embedding.lay_along(std::get<std::vector<DeviceCoordinates>>(std::move(path)));
    return embedding;
  }
  if (profile.fabric == FabricKind::graph) {
    std::vector<DeviceCoordinates> numbered;
    for (int device = 0; device < slice.devices; ++device) numbered.push_back({device, 0, 0, 0});
    embedding.lay_along(std::move(numbered));
    return embedding;
  }
  if (ends_at_node(profile.fabric)) {
    embedding.assignment_ = ranks_in_nodes(sizes, std::min(embedding.devices_per_node_, slice.devices));
    return embedding;
  }
  if (auto path = ring_order(profile, slice, *std::max_element(sizes.begin(), sizes.end()))) {
    embedding.lay_along(*std::move(path));
    return embedding;
  }
  const DimSizes torus = shape_of(slice, profile.devices_per_chip);
  auto assigned = assign_whole_dims(torus, sizes);
  if (const auto* unplaced = std::get_if<UnplacedAxis>(&assigned); unplaced && !order.allow_split_physical_axes)
    return no_dims_left(*unplaced, slice, mesh);
  if (std::holds_alternative<UnplacedAxis>(assigned)) assigned = assign_splitting_dims(torus, sizes);
  embedding.assignment_ = std::get<TorusAssignment>(std::move(assigned));
  return embedding;
}

void MeshEmbedding::lay_along(std::vector<DeviceCoordinates> path) {
  path_ = std::move(path);
  if (fabric_ == FabricKind::torus) torus_ = std::make_shared<const NetworkGraph>(graph_of(slice_, links_));
}

MeshEmbedding::Members MeshEmbedding::members_of(const AxisList& axes) const {
  Members members{std::vector<char>(ici_.size()), 1, 1};
  for (const AxisId axis : axes) {
    if (axis >= ici_.size()) throw InternalError("axis outside the mesh");
    members.is_in[axis] = 1;
  }
  for (std::size_t axis = 0; axis < ici_.size(); ++axis) {
    if (!members.is_in[axis]) continue;
    const int across_nodes = ends_at_node(fabric_) ? assignment_[axis][0] : 1;
    members.inside *= ici_[axis] / across_nodes;
    members.outside *= dcn_[axis] * across_nodes;
  }
  return members;
}

// From the last axis (minor) to the first: an axis' members are as far apart as the later axes are long. Neighbouring
// axes of the group merge into one part.
std::vector<DimPart> MeshEmbedding::parts_on(const Members& members, std::size_t dim) const {
  std::vector<DimPart> parts;
  int stride = 1;
  for (std::size_t axis = ici_.size(); axis-- > 0;) {
    const int size = assignment_[axis][dim];
    if (size > 1 && members.is_in[axis]) {
      const bool continues = !parts.empty() && parts.back().size * parts.back().stride == stride;
      if (continues)
        parts.back().size *= size;
      else
        parts.push_back({size, stride, false});
    }
    stride *= size;
  }
  for (DimPart& part : parts) part.closes = slice_.wraps[dim] && stride > 2 && part.size * part.stride == stride;
  return parts;
}

GroupRates MeshEmbedding::rates_on_dim(const Members& members, std::size_t dim) const {
  GroupRates rates;
  double exchange_seconds = 0;  // the parts' loads add up on the links of the dim
  for (const DimPart& part : parts_on(members, dim)) {
    rates = nested(rates, rates_of(part, links_.chip_to_chip));
    exchange_seconds += exchange_load(part) / links_.chip_to_chip;
  }
  const double n = rates.size;
  if (rates.size > 1) rates.exchange = (n - 1) / n / exchange_seconds;
  return rates;
}

GroupRates MeshEmbedding::rates_on_torus(const Members& members) const {
  std::array<GroupRates, torus_dims> dims;
  int cores = 1;
  for (std::size_t dim = 0; dim < slice_.torus.size(); ++dim) dims[dim] = rates_on_dim(members, dim);
  for (std::size_t axis = 0; axis < ici_.size(); ++axis)
    if (members.is_in[axis]) cores *= assignment_[axis][core_dim];
  const GroupRates chips = side_by_side(dims, joint_ring_efficiency_);
  return nested(die_to_die(cores, links_.die_to_die), shared_by(devices_per_chip_, chips));
}

DeviceGroups MeshEmbedding::groups_of(const Members& members) const {
  DeviceGroups groups(path_.size() / static_cast<std::size_t>(members.inside));
  for (std::size_t device = 0; device < path_.size(); ++device) {
    std::size_t group = 0, rest = device, scale = 1;
    for (std::size_t axis = ici_.size(); axis-- > 0;) {
      const auto size = static_cast<std::size_t>(ici_[axis]);
      if (!members.is_in[axis]) group += rest % size * scale, scale *= size;
      rest /= size;
    }
    groups[group].push_back(path_[device]);
  }
  return groups;
}

GroupRates MeshEmbedding::rates_on_path(const Members& members) const {
  const DeviceGroups groups = groups_of(members);
  const auto box = common_box(groups);
  if (!box) return routed_rates(*torus_, groups);
  std::array<GroupRates, torus_dims> dims;
  for (std::size_t dim = 0; dim < slice_.torus.size(); ++dim) {
    const bool closes = slice_.wraps[dim] && (*box)[dim] == slice_.torus[dim] && (*box)[dim] > 2;
    if ((*box)[dim] > 1) dims[dim] = rates_of({(*box)[dim], 1, closes}, links_.chip_to_chip);
  }
  const GroupRates chips = side_by_side(dims, joint_ring_efficiency_);
  return nested(die_to_die((*box)[core_dim], links_.die_to_die), shared_by(devices_per_chip_, chips));
}

}  // namespace shardplan
