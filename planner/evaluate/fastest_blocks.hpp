#pragma once
// Which blocks of splash attention take a run's layers least time.
#include <shardplan/configuration.hpp>
#include <shardplan/attention/splash_blocks.hpp>
#include <vector>

namespace shardplan {

/// Those that the run may choose among (splash_blocks_of), fastest first: by the cycles of one forward and one backward
/// pass of all layers over whole sequences (cost_models/time/splash_time.hpp), which meshes share out but don't reorder.
/// None where the machine's profile has no cycles of the kernels.
std::vector<SplashBlocks> fastest_splash_blocks(const Configuration& configuration);

}  // namespace shardplan
