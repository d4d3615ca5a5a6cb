#pragma once
// The logical device mesh: named axes in mesh order (the last is the most network-intensive one, as JAX's mesh builder
// assumes). An axis that spans slices or nodes has a DCN factor, which is the major part of the axis (SHARDING.md 1.2).
#include <cstdint>
#include <optional>
#include <shardplan/mesh/axis_list.hpp>
#include <shardplan/mesh/axis_role.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Which of the devices that differ in some axes are a group.
enum class GroupSpan : std::uint8_t {
  whole,           ///< all of them
  inside_slices,   ///< those of one slice (TPU) or node (GPU)
  between_slices,  ///< one of each slice or node
};

struct MeshAxis {
  std::string name;
  int ici = 1;  ///< devices along the axis inside a slice (TPU) or node (GPU)
  int dcn = 1;  ///< slices or nodes along the axis
  AxisRole role = axis_role(name);  ///< told once: an axis that is made keeps its name
  int size() const { return ici * dcn; }
  bool operator==(const MeshAxis&) const = default;
};

struct Mesh {
  std::vector<MeshAxis> axes;

  int size(AxisId axis) const { return axes[axis].size(); }
  std::optional<AxisId> find(std::string_view name) const;
  std::optional<AxisId> find(AxisRole role) const {
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i].role == role) return static_cast<AxisId>(i);
    return std::nullopt;
  }
  /// Size of a named axis; 1 when the mesh has no such axis (as MaxText treats names outside the mesh).
  int size_of(std::string_view name) const;
  int size_of(AxisRole role) const {
    const auto axis = find(role);
    return axis ? size(*axis) : 1;
  }
  /// Those above 1, in mesh order.
  AxisList axes_of(AxisFamily family) const;
  /// Product of all axis sizes.
  std::int64_t devices() const;
  std::int64_t slices() const;
  /// Product of the sizes of `list`.
  std::int64_t product(const AxisList& list) const {
    std::int64_t count = 1;
    for (const AxisId axis : list) count *= size(axis);
    return count;
  }
  /// Devices of a group along `list`.
  std::int64_t group_size(const AxisList& list, GroupSpan span) const;
  bool operator==(const Mesh&) const = default;
};

/// MaxText's custom_mesh: device orders that it makes by hand for slices of 256 devices (utils/max_utils.py).
enum class CustomMesh : std::uint8_t {
  none,
  hybrid_ring_64x4,  ///< an axis of 4 along rings of 2x2, one of 64 over them
  hybrid_ring_32x8,  ///< an axis of 8 along rings of 2x4, one of 32 over them
};
std::string_view name_of(CustomMesh custom);  ///< "hybrid_ring_64x4"; "" of none

/// What of a run's settings decides where JAX puts the devices of a mesh.
struct DeviceOrder {
  bool allow_split_physical_axes = false;
  CustomMesh custom = CustomMesh::none;
  bool operator==(const DeviceOrder&) const = default;
};

/// One entry of "data=2,expert=4".
struct AskedAxis {
  std::string name;
  int size = 1;
  bool operator==(const AskedAxis&) const = default;
};

/// Parses "data=2,expert=4". Throws InputError on another form, a repeated axis or a size below 1.
std::vector<AskedAxis> parse_axes(std::string_view text);

/// What sizes an axis may have in a search: "fsdp=8..64", or "fsdp=8" for one.
struct AskedSizes {
  std::string name;
  int least = 1, most = 1;
  bool has(int size) const { return least <= size && size <= most; }
  bool operator==(const AskedSizes&) const = default;
};

/// Parses "fsdp=8..64,tensor=2". Throws InputError as parse_axes does, and where a range ends below its beginning.
std::vector<AskedSizes> parse_axis_sizes(std::string_view text);

/// The mesh over the axis order `names` with these sizes; unnamed axes have size 1. Throws InputError on an unknown
/// axis (nearest names given), or one of MaxText's that `names` don't have.
Mesh asked_mesh(const std::vector<AskedAxis>& asked, const std::vector<std::string>& names);

/// Parses "data=2,expert=4" onto the axis order `names`; unnamed axes have size 1.
/// Throws InputError on an unknown axis (nearest names given), a repeated axis or a size below 1.
Mesh parse_mesh(std::string_view text, const std::vector<std::string>& names);

/// A mesh whose axes are whole sizes, over slices or nodes: its first axes are the outermost, for consecutive devices, which
/// fill a slice or node, differ along the last ones. Empty where so many don't divide it.
std::optional<Mesh> spread_over(Mesh mesh, int slices);

/// "fsdp=4,expert=2": the axes above 1, in mesh order; "1 device" when there are none.
std::string describe(const Mesh& mesh);
std::string describe(const std::vector<AskedSizes>& asked);  ///< "fsdp=8..64,expert=1", as asked

std::vector<std::string> names_of(const AxisList& axes, const Mesh& mesh);
/// Axes as sentences and tables have them: "context+expert".
std::string join_axes(const std::vector<std::string>& names);

}  // namespace shardplan
