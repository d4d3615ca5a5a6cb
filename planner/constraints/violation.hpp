#pragma once
// What a check finds broken. Private to this room.
#include <initializer_list>
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/infeasible.hpp>

namespace shardplan {

using Violation = std::optional<Infeasible>;

/// Of the checks in their order.
inline Violation first_violation_of(std::initializer_list<Violation (*)(const Configuration&)> checks,
                                    const Configuration& configuration) {
  for (const auto check : checks)
    if (auto violation = check(configuration)) return violation;
  return std::nullopt;
}

}  // namespace shardplan
