#pragma once
// Settings that follow from the mesh, on another one.
#include <shardplan/configuration.hpp>

namespace shardplan {

/// Where the tile of int8 experts is what the mesh of `now` makes of their columns, it is what that of `changed` makes.
void follow_mesh(Configuration& changed, const Configuration& now);

}  // namespace shardplan
