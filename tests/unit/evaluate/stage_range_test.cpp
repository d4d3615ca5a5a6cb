// Memory of mixtures in stages of several layers: what compiled programs needed of it is said by the range.
#include <gtest/gtest.h>

#include <planner/evaluate/evaluate.hpp>
#include <string>

#include "../reading.hpp"

namespace shardplan {
namespace {

TEST(StageRange, ReachesWhatProgramsOfSeveralLayersAStageNeeded) {
  const auto above = [](const std::string& model, int layers_per_stage) {
    const Configuration c = read("model_name=" + model + " compile_topology=v5p-16 base_num_decoder_layers=8 "
                                 "override_model_config=true ici_pipeline_parallelism=2 ici_fsdp_parallelism=4 "
                                 "per_device_batch_size=1 max_target_length=1024 num_layers_per_pipeline_stage=" +
                                 std::to_string(layers_per_stage));
    const MemoryUse memory = evaluate(c).memory;
    const auto arguments = static_cast<double>(memory.arguments().value);
    return (static_cast<double>(memory.high.value) - arguments) / (static_cast<double>(memory.peak().value) - arguments);
  };
  EXPECT_NEAR(above("mixtral-8x7b", 4), 1.5, 0.001);
  EXPECT_LT(above("mixtral-8x7b", 1), 1.4);
  EXPECT_LT(above("llama2-7b", 4), 1.4);
}

}  // namespace
}  // namespace shardplan
