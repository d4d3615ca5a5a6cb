#pragma once
// The figures of a machine in the order and with the names of its profile (docs/hardware-profiles.md).
#include <shardplan/machine/hardware.hpp>
#include <string_view>
#include <vector>

namespace shardplan {

struct NamedFigure {
  std::string_view key;
  Figure figure;
  double printed = 0;  ///< the value in the profile's own unit (Figure::value is in SI units)
};

/// Figures that the profile does not have are left out.
std::vector<NamedFigure> figures_of(const HardwareProfile& machine);

}  // namespace shardplan
