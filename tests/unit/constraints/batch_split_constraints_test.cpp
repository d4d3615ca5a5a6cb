// What the batch-split schedule takes for granted: the line that breaks it and its neighbour that does not.
#include <gmock/gmock.h>

#include <planner/constraints/constraints.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

const MachineChoice v5p_pair{"tpu-v5p", 8, std::nullopt};
const std::string batch_split = "model_name=deepseek3-671b-batchsplit sharding_tolerance=1 ";
const std::string mesh = "ici_fsdp_parallelism=4 ici_expert_parallelism=2 ";

std::string violation_of(const std::string& line, const MachineChoice& machine = v5p_pair) {
  const auto violation = first_violation_of_settings(read(batch_split + line, machine));
  return violation ? std::string(name_of(violation->constraint)) + ": " + violation->message : "";
}

TEST(BatchSplitConstraints, HalvesWhatADeviceHas) {
  EXPECT_EQ(violation_of(mesh + "per_device_batch_size=2"), "");
  EXPECT_EQ(violation_of(mesh + "per_device_batch_size=4 gradient_accumulation_steps=4"), "");
  EXPECT_THAT(violation_of(mesh + "per_device_batch_size=3"),
              HasSubstr("batch-split: the batch-split schedule halves the 3"));
}

TEST(BatchSplitConstraints, NeedsLayersAroundItsScan) {
  const std::string layers = mesh + "per_device_batch_size=2 override_model_config=true base_num_decoder_layers=";
  EXPECT_EQ(violation_of(layers + "7"), "");
  EXPECT_THAT(violation_of(layers + "6"), HasSubstr("needs 4 mixture-of-experts layers, not 3"));
}

TEST(BatchSplitConstraints, SplitsTokensOverItsOwnAxes) {
  EXPECT_THAT(violation_of("ici_fsdp_parallelism=4 ici_context_parallelism=2 per_device_batch_size=2"),
              HasSubstr("batch-split: batch-split layers compute the same on all devices of context=2"));
  EXPECT_EQ(violation_of("ici_fsdp_parallelism=8 per_device_batch_size=2"), "");  // no ring is asked for
}

TEST(BatchSplitConstraints, HasItsOwnKernelsAndTypes) {
  const std::string whole = mesh + "per_device_batch_size=2 ";
  EXPECT_THAT(violation_of(whole + "attention=dot_product"), HasSubstr("not attention=dot_product"));
  EXPECT_THAT(violation_of(whole + "quantization=fp8_full use_qwix_quantization=true"), HasSubstr("quantization=fp8_full"));
  EXPECT_THAT(violation_of(whole + "scan_layers=false override_model_config=true"), HasSubstr("scan_layers=false"));
  EXPECT_THAT(violation_of(whole + "megablox=false attention=flash", {"h100", 8, std::nullopt}),
              HasSubstr("batch-split layers call TPU kernels"));
}

}  // namespace
}  // namespace shardplan
