#pragma once
// The logical axes that MaxText's tensors have (logical_axes.json, which names its commit).
#include <string>
#include <vector>

namespace shardplan {

/// Alphabetical. A rule for any other name applies to no tensor.
const std::vector<std::string>& logical_axis_names();

}  // namespace shardplan
