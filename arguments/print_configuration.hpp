#pragma once
// One configuration → MaxText's own arguments.
#include <shardplan/configuration.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

using PrintedArguments = std::vector<std::pair<std::string, std::string>>;

/// What differs from MaxText's defaults, ready to paste, in printing order. Computed from the parts, not from what was
/// read, so that a search can change mesh or settings and print the result.
PrintedArguments maxtext_arguments(const Configuration& configuration);

/// MaxText writes ring, ulysses and usp attention on TPU in the Tokamax kernel alone, and wants to be told (configs/
/// types.py).
bool needs_tokamax(const Configuration& configuration);

}  // namespace shardplan
