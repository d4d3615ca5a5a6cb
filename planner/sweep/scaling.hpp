#pragma once
// How far a machine scales: tokens a second and chip against those of its smallest possible size, and where the chips'
// time goes once they fall behind.
#include <planner/sweep/sweep.hpp>

namespace shardplan {

/// Below this share of the smallest size's tokens a second and chip a machine no longer scales.
inline constexpr double scaling_share = 0.8;

struct ScaledSize {
  std::size_t row = 0;    ///< into SweepAnswer::rows
  double efficiency = 1;  ///< tokens a second and chip over those of the smallest
};

struct MachineScaling {
  std::size_t smallest = 0;         ///< the row, of model and machine, that the others are compared with
  ScaledSize largest;               ///< the largest size of at least scaling_share
  std::optional<ScaledSize> stops;  ///< the size after it; empty: there is none
  Limit grown = Limit::compute;     ///< the part of a token's chip time that grew most from the smallest size to `stops`
  double growth = 0;                ///< by this share of that of the smallest
};

/// One for each model and machine with two possible sizes or more, in the order of the rows.
std::vector<MachineScaling> scaling_of(const SweepAnswer& answer);

}  // namespace shardplan
