// What gpt-oss' steps on GPUs spend on gradients of experts' biases.
#include <gtest/gtest.h>

#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

double seconds_of_biases(const std::string& run, const std::string& machine = "h100") {
  const std::string rest = " base_num_decoder_layers=2 override_model_config=true sparse_matmul=true attention=dot_product "
                           "max_target_length=2048 ici_fsdp_parallelism=8";
  return evaluate(read(run + rest, {machine, 8, std::nullopt})).time.parts.bias_gradients.value;
}

/// Two layers of three biases each, 8,192 rows of 2,880 numbers for 32 experts: 256 of each wait for each other.
TEST(BiasGradients, GrowWithTheSquareOfTheTokens) {
  const double run = seconds_of_biases("model_name=gpt-oss-20b per_device_batch_size=1");
  EXPECT_NEAR(run, 2 * 3 * 8192.0 * 2880 * 256 / 550e9, 1e-6);
  EXPECT_NEAR(seconds_of_biases("model_name=gpt-oss-20b per_device_batch_size=2"), 4 * run, 1e-6);
  EXPECT_EQ(seconds_of_biases("model_name=mixtral-8x7b per_device_batch_size=1"), 0) << "has none";
  EXPECT_EQ(seconds_of_biases("model_name=gpt-oss-20b per_device_batch_size=1 dtype=float32"), 0) << "doesn't wait";
  EXPECT_EQ(seconds_of_biases("model_name=gpt-oss-20b per_device_batch_size=1", "mi355x"), 0) << "not measured";
}

}  // namespace
}  // namespace shardplan
