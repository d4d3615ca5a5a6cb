#pragma once
// Weights and moments that take less of a device's memory: narrower, or in the host's.
#include <shardplan/settings.hpp>
#include <span>
#include <string_view>

namespace shardplan {

struct NarrowerState {
  std::string_view name;    ///< "first moment in bfloat16"
  std::string_view remedy;  ///< for whom lacks memory: "first optimizer moment in bfloat16 (mu_dtype=bfloat16)"
  SettingField field;       ///< that says it
  void (*set)(Settings& settings);
};

/// The mildest first.
std::span<const NarrowerState> narrower_states();

}  // namespace shardplan
