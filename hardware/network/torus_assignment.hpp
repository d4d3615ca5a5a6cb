#pragma once
// Which physical dims each logical axis of a mesh gets on a torus: JAX's rule (jax/_src/mesh_utils.py, jax 0.12),
// reproduced because it decides which meshes MaxText can start and which links a collective uses.
#include <array>
#include <optional>
#include <variant>
#include <vector>

namespace shardplan {

/// Sizes along the physical dims x, y, z and core (the devices of one chip); 1 where there is no such dim.
using DimSizes = std::array<int, 4>;
inline constexpr std::size_t core_dim = 3;  ///< the one inside a chip

/// For each logical axis its size along each physical dim. Their product over the dims is the axis' size; over the
/// axes it is the torus' shape. Within one dim the later axis is the minor one.
using TorusAssignment = std::vector<DimSizes>;

/// The axis for which no dims were left.
struct UnplacedAxis {
  std::size_t axis = 0;
  DimSizes left{1, 1, 1, 1};  ///< sizes of the dims that no later axis has taken; 1 where taken
};

/// From the last axis (most network-intensive) to the first, each gets the largest number of whole, still free dims
/// whose product is its size; ties to the first subset in lexicographic order.
std::variant<TorusAssignment, UnplacedAxis> assign_whole_dims(const DimSizes& torus, const std::vector<int>& sizes);

/// As JAX does when whole dims do not suffice and allow_split_physical_axes is set: every axis anew, from the last to
/// the first, from all ways to factor it over what is left of the dims.
/// The product of `sizes` must be that of `torus`.
TorusAssignment assign_splitting_dims(const DimSizes& torus, const std::vector<int>& sizes);

}  // namespace shardplan
