#pragma once
// Sets of mesh axes, for the kinds that move tokens. Private to this room.
#include <algorithm>
#include <cost_models/layouts/layout.hpp>

namespace shardplan {

inline AxisList in_mesh_order(AxisList axes) {
  axes.sort();
  return axes;
}

inline AxisList without(AxisList axes, const AxisList& gone) {
  erase_if(axes, [&](AxisId axis) { return contains(gone, axis); });
  return axes;
}

inline AxisList common(const AxisList& a, const AxisList& b) {
  AxisList both;
  for (const AxisId axis : a)
    if (contains(b, axis)) both.push_back(axis);
  return both;
}

}  // namespace shardplan
