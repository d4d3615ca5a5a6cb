// What the dropping path's routing of all tokens takes on TPUs, beside the step.
#include <gtest/gtest.h>

#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

StepTime time_of(const std::string& run, const MachineChoice& machine = {}) {
  return evaluate(read(run + " base_num_decoder_layers=2 override_model_config=true max_target_length=2048 "
                             "remat_policy=full ici_fsdp_parallelism=8 sparse_matmul=false megablox=false "
                             "capacity_factor=1.25",
                       machine)).time;
}

/// 8 devices of 16 x 2048 tokens, 8 of 128 experts each: 2,097,152 choices. Their ids go into 33,554,432 words, 128 MiB,
/// more than an operation of v5p gets with recipes' flags: sorted. The weights' go into the device's 4,194,304 halves.
/// rt2.hlo: such scatters, forward and again, and the device's own gradients.
TEST(AllTokenRouting, IsOfAllDevicesChoices) {
  const StepTime time = time_of("model_name=qwen3-30b-a3b compile_topology=v5p-16 per_device_batch_size=16");
  const double layer = 2 * 2097152 * (22.8 + 12.3) + 262144 * 12.3;
  EXPECT_NEAR(time.all_token_routing.value, 2 * layer / 1.75e9, 1e-7);
  EXPECT_NEAR(time.least_all_token_routing.value, 2 * (2 * 2097152 * (6.7 + 12.3) + 262144 * 12.3) / 1.75e9, 1e-7);
  EXPECT_DOUBLE_EQ(time.with_routing().value, time.step().value + time.all_token_routing.value);
}

/// Few experts for each chosen: every device writes its own weights into those of all, and they are summed.
TEST(AllTokenRouting, WritesItsOwnWeightsWhereTheyAreSummed) {
  const StepTime time = time_of("model_name=mixtral-8x7b compile_topology=v5p-16 per_device_batch_size=2");
  const double layer = 2 * (65536 * 6.7 + 8192 * 12.3) + 8192 * 12.3;
  EXPECT_NEAR(time.all_token_routing.value, 2 * layer / 1.75e9, 1e-7);
}

TEST(AllTokenRouting, IsOfTpusAlone) {
  const std::string run = "model_name=mixtral-8x7b per_device_batch_size=2 attention=cudnn_flash_jax";
  EXPECT_EQ(time_of(run, {"h100", 8, std::nullopt}).all_token_routing.value, 0);
}

}  // namespace
}  // namespace shardplan
