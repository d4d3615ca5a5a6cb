#pragma once
// The loops over blocks that splash attention's kernels make of one operation under the blocks that the run has.
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// What of an operation its loops depend on.
struct SplashOperands {
  std::int64_t sequence = 0;
  std::int64_t keys_at_once = 0;  ///< that a kernel reads: of a ring, a device's part
  AttentionWindow window = {};
  std::int64_t query_width = 0, value_width = 0;  ///< of a head
  double heads = 1;                               ///< heads × sequences
  bool mask_is_data = false;                      ///< each block reads its part of the mask
};

struct SplashLoops {
  BlockLoops forward, backward;
};

SplashLoops splash_loops(const SplashOperands& operands, const TrainConfig& config);

}  // namespace shardplan
