#pragma once
// The `expert` axis of models without experts. Rules let it do what fsdp, context or tensor does, so a mesh with it repeats
// another, on other links: JAX gives mesh axes dims of the torus from the last to the first, and of dims of one size the
// first (hardware/network/torus_assignment.hpp). The devices of a chip are the last dim. With `expert`, the last axis,
// on the dims in front of it that are as long, `tensor` gets the chip's own links.
#include <optional>
#include <planner/search/space/search_space.hpp>

namespace shardplan {

/// The size that takes all dims of the slice which are as long as a chip has devices; nothing where there is none, or chips
/// have one device.
std::optional<int> size_beside_chips(const HardwareProfile& hardware, const Slice& slice);

/// Whether a mesh with such an axis is worth a look: another, that fsdp and data can't stand in for, has the chip's devices.
bool leaves_chips_to_another(const Mesh& mesh, const Configuration& base);

}  // namespace shardplan
