// The dense layer in front of DeepSeek2's mixtures, which is a scan of one layer and no loop.
#include <gmock/gmock.h>

#include <algorithm>
#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

/// Whether the layer's hidden rows wait for its gradient; documents are packed, so that each pass looks its rotations up.
bool waits_for_gradient(const std::string& settings) {
  const Evaluation run = evaluate(read("model_name=deepseek2-16b compile_topology=v5p-64 ici_fsdp_parallelism=32 "
                                       "max_target_length=4096 remat_policy=full sparse_matmul=true megablox=true " +
                                       settings));
  return std::any_of(run.held.begin(), run.held.end(), [](const HeldBuffer& held) {
    return held.block == "dense_layers" && held.name == "mlp hidden";
  });
}

// 4 passes of 32 sequences: bf16[32,4096,10944] of the forward pass is alive at the loss; in one pass it is made again.
TEST(AccumulatedLookups, AreMerged) {
  EXPECT_TRUE(waits_for_gradient("per_device_batch_size=32 gradient_accumulation_steps=4"));
  EXPECT_FALSE(waits_for_gradient("per_device_batch_size=32"));
}

}  // namespace
}  // namespace shardplan
