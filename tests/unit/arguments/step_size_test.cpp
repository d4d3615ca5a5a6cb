// Sizes beyond all machines are slips of the keyboard: they are refused before anything is counted in 63 bits.
#include <gmock/gmock.h>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

TEST(StepSize, HasABound) {
  const std::string llama = "model_name=llama2-7b compile_topology=v5p-16 ";
  for (const char* line : {"per_device_batch_size=131072", "max_target_length=268435456 per_device_batch_size=1",
                           "gradient_accumulation_steps=1048576"})
    EXPECT_EQ(error_of(llama + line), "") << line;
  for (const char* line : {"per_device_batch_size=131073", "per_device_batch_size=1e300"})
    EXPECT_THAT(error_of(llama + line), testing::HasSubstr("tokens a device and pass: more than 268435456")) << line;
  for (const char* line : {"per_device_batch_size=0", "per_device_batch_size=-1", "per_device_batch_size=-0.5"})
    EXPECT_THAT(error_of(llama + line), testing::HasSubstr("per_device_batch_size")) << line;
  EXPECT_EQ(error_of(llama + "per_device_batch_size=1 num_vocab_tiling=2049"),
            "num_vocab_tiling=2049: more than the 2048 tokens of a device");
  EXPECT_EQ(error_of("model_name=llama2-7b per_device_batch_size=0.5", {"tpu-v6e", 1, std::nullopt}),
            "batch: per_device_batch_size=0.5 on 1 device is less than a sequence");
  EXPECT_EQ(error_of(llama + "per_device_batch_size=0.25 ici_pipeline_parallelism=4 ici_fsdp_parallelism=2"),
            "num_pipeline_microbatches=4: 2 sequences can't be split into so many");
  EXPECT_EQ(error_of(llama + "max_target_length=268435457 per_device_batch_size=0.125"),
            "max_target_length=268435457: more than 268435456 tokens");
  EXPECT_EQ(error_of(llama + "gradient_accumulation_steps=1048577"),
            "gradient_accumulation_steps=1048577: more than 1048576");
}

TEST(StepSize, BoundsTheBuffersOfExperts) {
  const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16 ";
  const std::string sorted = mixtral + "ici_expert_parallelism=8 ", dropping = mixtral + "sparse_matmul=false ";
  EXPECT_EQ(error_of(sorted + "ragged_buffer_factor=8"), "");
  EXPECT_EQ(error_of(dropping + "capacity_factor=8"), "");
  for (const char* factor : {"1e12", "1e14", "1e300", "8.1"})
    EXPECT_THAT(error_of(sorted + "ragged_buffer_factor=" + factor),
                testing::MatchesRegex("ragged_buffer_factor=.*: more than 8, the number of experts, only pads .*"))
        << factor;
  EXPECT_EQ(error_of(dropping + "capacity_factor=1e18"),
            "capacity_factor=1e+18: more than 8, the number of experts, only pads their buffers");
  EXPECT_EQ(error_of(dropping + "capacity_factor=8 max_target_length=67108864 per_device_batch_size=1"),
            "capacity_factor=8 of max_target_length=67108864: masks of 7.2e+16 elements a device are more than shardplan "
            "can count");
}

}  // namespace
}  // namespace shardplan
