// What MaxText refuses in Linen alone: the line that breaks it and its neighbours that do not.
#include <gmock/gmock.h>

#include <planner/constraints/constraints.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

const MachineChoice linen_machine{"tpu-v5p", 128, std::nullopt};

std::string refusal_of(const std::string& line) {
  const auto violation = first_violation(read(line, linen_machine));
  return violation ? std::string(name_of(violation->constraint)) + ": " + violation->message : "";
}

const std::string dropped_tokens =
    "sparse_matmul=false megablox=false capacity_factor=1.25 moe_dispatch_no_expert_sharding=true ";
const std::string linen = "enable_nnx=false pure_nnx=false pure_nnx_decoder=false ";
const std::string sparse_attention = "model_name=deepseek3.2-671b per_device_batch_size=1 attention=flash "
                                     "use_tokamax_splash=true ici_fsdp_parallelism=1 ici_expert_parallelism=128 " +
                                     dropped_tokens;

// Compiled with MaxText: refused, and its neighbours aren't (deepseek3.2-671b on 128 chips of v5p).
TEST(LinenConstraints, AnIndexerThatEveryKeyPassesHasOneMask) {
  const std::string refused = refusal_of(sparse_attention + "quantization=int8 max_target_length=2048");
  EXPECT_THAT(refused, HasSubstr("attention-kernel: max_target_length=2048 is no more than indexer_topk=2048"));
  EXPECT_THAT(refused, HasSubstr("use_qwix_quantization=true"));
  EXPECT_THAT(refusal_of(sparse_attention + linen + "max_target_length=2048"), HasSubstr("set enable_nnx=true"));
  EXPECT_EQ(refusal_of(sparse_attention + "quantization=int8 max_target_length=4096"), "");
  EXPECT_EQ(refusal_of(sparse_attention + "max_target_length=2048"), "");
}

TEST(LinenConstraints, Deepseek4RoutesWithABiasInNnx) {
  const std::string deepseek4 = "model_name=deepseek4-284b per_device_batch_size=1 attention=flash use_tokamax_splash=true "
                                "ici_fsdp_parallelism=1 ici_expert_parallelism=128 max_target_length=2048 ";
  EXPECT_THAT(refusal_of(deepseek4 + dropped_tokens + "quantization=int8"),
              HasSubstr("given-argument: enable_nnx=false: deepseek4-284b routes with a bias"));
  EXPECT_EQ(refusal_of(deepseek4 + dropped_tokens), "");
}

}  // namespace
}  // namespace shardplan
