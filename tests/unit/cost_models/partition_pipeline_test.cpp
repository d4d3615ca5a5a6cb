// A pipeline of 2 stages, 4 microbatches, 2 repeats (SHARDING.md 2.6 and 9): I = 4·2 + 1 = 9 iterations, fsdp 4 inside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy_layers.hpp"

namespace shardplan {
namespace {

ToyRun pipeline() {
  ToyRun toy{toy_llama(), toy_config(2, 1024), "default", "stage=2,fsdp=4"};
  toy.config.num_pipeline_microbatches = 4;
  return toy;
}

std::int64_t executions(const ToyStep& step, Phase phase, CollectiveKind kind, const std::string& part) {
  std::int64_t count = 0;
  for (const auto& c : step.collectives)
    if (c.phase == phase && c.kind == kind && c.op.find(part) != std::string::npos) count += c.executions;
  return count;
}

// Shift, buffer rotation and circular storage: three permutes an iteration, each of one microbatch [1, 1024, 1024].
TEST(Pipeline, ShiftsThreeTimesAnIterationWithCircularStorage) {
  const ToyStep step = run(pipeline());
  EXPECT_EQ(executions(step, Phase::forward, CollectiveKind::collective_permute, "pipeline/shift"), 27);
  EXPECT_EQ(executions(step, Phase::backward, CollectiveKind::collective_permute, "pipeline/shift"), 27);
  for (const auto& c : step.collectives) {
    if (c.kind != CollectiveKind::collective_permute) continue;
    EXPECT_EQ(c.bytes, Bytes{2 * 1024 * 1024}) << c.op;
  }
}

// One repeat needs no circular storage: I = 4 + 1, two permutes each.
TEST(Pipeline, ShiftsTwiceAnIterationWithoutRepeats) {
  ToyRun toy = pipeline();
  toy.config.num_layers_per_pipeline_stage = 2;
  EXPECT_EQ(executions(run(toy), Phase::forward, CollectiveKind::collective_permute, "pipeline/shift"), 10);
}

struct GatherRow {
  const char* what;
  bool once, per_repeat;
  std::int64_t forward, recomputed;
};

TEST(Pipeline, GathersAWeightEachIterationOrEachRepeatOrOutsideTheLoop) {
  for (const auto& row : {GatherRow{"default", false, false, 9, 9}, GatherRow{"per repeat", false, true, 2, 2},
                          GatherRow{"once", true, false, 0, 0}}) {
    ToyRun toy = pipeline();
    toy.config.pipeline_fsdp_ag_once = row.once;
    toy.config.pipeline_fsdp_ag_per_repeat = row.per_repeat;
    const ToyStep step = run(toy);
    EXPECT_EQ(executions(step, Phase::forward, CollectiveKind::all_gather, "layers/mlp/wi_0"), row.forward) << row.what;
    EXPECT_EQ(executions(step, Phase::rematerialized_forward, CollectiveKind::all_gather, "layers/mlp/wi_0"),
              row.recomputed)
        << row.what;
  }
}

TEST(Pipeline, ReducesAWeightGradientEachIteration) {
  EXPECT_EQ(executions(run(pipeline()), Phase::backward, CollectiveKind::reduce_scatter, "layers/mlp/wi_0"), 9);
}

// Embedding and head split their batch over stages too: their gradients are summed over it.
TEST(Pipeline, EdgesActAsDataParallelOverStages) {
  const ToyStep step = run(pipeline());
  EXPECT_THAT(lines(step, "head", "logits"), testing::Contains("backward reduce stage 2 MiB x1"));
  EXPECT_THAT(lines(step, "embedding"), testing::Contains("backward reduce stage 2 MiB x1"));
}

TEST(Pipeline, AccumulationRepeatsItAll) {
  ToyRun toy = pipeline();
  toy.config.gradient_accumulation_steps = 3;
  EXPECT_EQ(executions(run(toy), Phase::forward, CollectiveKind::collective_permute, "pipeline/shift"), 81);
  EXPECT_EQ(executions(run(toy), Phase::forward, CollectiveKind::all_gather, "layers/mlp/wi_0"), 27);
}

TEST(Pipeline, OfOneStageIsNone) {
  ToyRun toy = pipeline();
  toy.mesh = "fsdp=8";
  EXPECT_EQ(executions(run(toy), Phase::forward, CollectiveKind::collective_permute, ""), 0);
}

}  // namespace
}  // namespace shardplan
