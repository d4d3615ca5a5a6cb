#pragma once
// What MaxText takes where nobody says a key.
#include <string>

namespace shardplan {

/// As base.yml has it; "" where no one value holds: the models' own files set it, or the mesh makes it.
std::string base_default(const std::string& key);

}  // namespace shardplan
