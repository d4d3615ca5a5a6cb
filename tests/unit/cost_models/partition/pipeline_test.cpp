// A pipeline of 2 stages, 4 microbatches, 2 repeats (SHARDING.md 2.6 and 9): I = 4·2 + 1 = 9 iterations, fsdp 4 inside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

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
    if (c.op.find("pipeline/shift") == std::string::npos) continue;
    EXPECT_EQ(c.bytes, Bytes{2 * 1024 * 1024}) << c.op;
  }
}

// One repeat needs no circular storage: I = 4 + 1, two permutes each.
TEST(Pipeline, ShiftsTwiceAnIterationWithoutRepeats) {
  ToyRun toy = pipeline();
  toy.config.num_layers_per_pipeline_stage = 2;
  EXPECT_EQ(executions(run(toy), Phase::forward, CollectiveKind::collective_permute, "pipeline/shift"), 10);
}

struct EdgeRow {
  const char* mesh;
  std::int64_t microbatches, enters, leaves, in_order;  ///< all-to-alls, and permutes beside them
};

// A batch [microbatches * microbatch] over stages and data is in place where a stage has one microbatch; rows that come from
// columns over fsdp go to the microbatches at once. Two microbatches a stage over 4 devices are put in order.
TEST(Pipeline, ExchangesTheBatchForMicrobatches) {
  for (const auto& row : {EdgeRow{"stage=2,data=2", 4, 1, 1, 0}, EdgeRow{"stage=2,data=2", 2, 0, 0, 0},
                          EdgeRow{"stage=2,fsdp=2", 4, 0, 1, 0}, EdgeRow{"stage=2,data=4", 4, 1, 1, 1}}) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", row.mesh};
    toy.config.num_pipeline_microbatches = row.microbatches;
    const ToyStep step = run(toy);
    for (const auto& [edge, count] : {std::pair{"pipeline/input", row.enters}, {"pipeline/output", row.leaves}}) {
      EXPECT_EQ(executions(step, Phase::forward, CollectiveKind::all_to_all, edge), count) << row.mesh << edge;
      EXPECT_EQ(executions(step, Phase::forward, CollectiveKind::collective_permute, edge), row.in_order)
          << row.mesh << edge;
    }
    EXPECT_EQ(executions(step, Phase::backward, CollectiveKind::all_gather, "pipeline/output"), row.in_order) << row.mesh;
  }
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

// wi_0 [1024, 2048] of two layers a stage: 4 MiB each in bf16, 8 in float32, whatever the block computes in.
TEST(Pipeline, WeightsGatheredOnceMoveAsTheyAreStored) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  const auto gathered = [&](DType stored, DType computed) {
    toy.config.weight_dtype = stored;
    toy.config.dtype = computed;
    return mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "mlp/wi_0");
  };
  toy.compiler.habits.remove(Habit::moves_stacks_in_compute_dtype);
  EXPECT_EQ(gathered(DType::f32, DType::bf16), 2 * 8);
  EXPECT_EQ(gathered(DType::f32, DType::f32), 2 * 8);
  EXPECT_EQ(gathered(DType::bf16, DType::bf16), 2 * 4);
  EXPECT_EQ(gathered(DType::bf16, DType::f32), 2 * 4);
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

// Two stages of two repeats with weights gathered once: each weight of the stack makes the trip to the repeats and
// back, its float32 gradient once, its two moments once each. wi_0: 2 layers on the stage × [1024, 2048].
TEST(LayerStack, MovesBetweenStagesAndRepeatsOnlyWhenGatheredOnceWithRepeats) {
  ToyRun toy{toy_llama(), toy_config(2, 1024), "default", "stage=2,data=4"};
  toy.config.num_pipeline_microbatches = 4;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 0);
  toy.config.pipeline_fsdp_ag_once = true;
  const std::int64_t bf16 = 2 * 4, f32 = 2 * 8;  // MiB
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 2 * bf16 + f32 + 2 * f32);
  toy.compiler.habits.remove(Habit::moves_stacks_in_compute_dtype);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 2 * f32 + f32 + 2 * f32);
  toy.config.num_layers_per_pipeline_stage = 2;  // one repeat
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 0);
}

// wi_0 on a stage of two layers: 8 MiB in bf16 gathered, and its float32 gradient 16. XLA pairs the stages with a dim of as
// many shards: that one goes to the repeats, and a permute puts stages in its place (copies' devices change places, too).
TEST(LayerStack, TakesShardsForTheStagesWhereTheyAreAsMany) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  const auto moved = [&](CollectiveKind kind, const char* axes) {
    return mebibytes(run(toy), kind, axes, "layer_stack/mlp/wi_0");
  };
  EXPECT_EQ(moved(CollectiveKind::all_gather, "stage"), 8);
  EXPECT_EQ(moved(CollectiveKind::all_to_all, "fsdp"), 8);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "stage+fsdp"), 8);
  toy.mesh = "stage=2,data=2,fsdp=2";
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "stage+data+fsdp"), 8);
  toy.mesh = "stage=2,fsdp=4";  // gathered, exchanged, and back; gradients, moments of 4 MiB each
  EXPECT_EQ(moved(CollectiveKind::all_gather, "fsdp"), 8);
  EXPECT_EQ(moved(CollectiveKind::all_to_all, "stage"), 2 * 8 + 16 + 2 * 4);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "stage+fsdp"), 0);
}

TEST(LayerStack, ExchangesShardsFirstWhereTheseArePutInOrderBeforeGathers) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,fsdp=2",
             with(plain_compiler(), Habit::permutes_before_gathers)};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  const ToyStep step = run(toy);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 4 + 2 * 8 + 16 + 2 * 8);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_gather, "fsdp", "layer_stack/mlp/wi_0"), 8);
  EXPECT_EQ(mebibytes(step, CollectiveKind::collective_permute, "stage+fsdp", "layer_stack/mlp/wi_0"), 0);
}

// Two repeats over four stages are four.
TEST(LayerStack, PadsRepeatsToTheStages) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=4,data=2"};
  toy.model.layers = 8;
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"),
            2 * (2 * 8 + 16 + 2 * 16));
}

// What the iterations add up is whole: one sum over shards and copies.
TEST(Pipeline, GradientsOfWeightsGatheredOnceAreSummedAtOnce) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,data=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  const ToyStep step = run(toy);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "data+fsdp", "layers/mlp/wi_0"), 2 * 4);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "data", "layers/mlp/wi_0"), 0);
}

// 7x gathers a table of no more bytes than the rows of all tokens, unless these go to several microbatches of a stage.
TEST(Pipeline, LooksUpColumnsWhereRowsGoToMicrobatches) {
  const auto gathered = [](std::int64_t microbatches) {
    ToyRun toy{toy_llama(), toy_config(4, 1024), "default", "stage=2,fsdp=2",
               without(with(plain_compiler(), Habit::gathers_tables_up_to_rows), Habit::gathers_smaller_of_table_and_rows)};
    toy.config.num_pipeline_microbatches = microbatches;
    return mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "embedding/token_embedder");
  };
  EXPECT_EQ(gathered(2), 8);  // the table [4096, 1024]
  EXPECT_EQ(gathered(4), 0);
}

// Recorded: each repeat's weight gradients are summed whole before they are scattered, and once more in the drain.
TEST(Pipeline, WeightsGatheredPerRepeatAreSummedBeforeTheirScatter) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_per_repeat = true;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "fsdp", "mlp/wi_0"), 2 * 4);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "fsdp", "mlp/wi_0"), 3 * 4);
}

// Recorded of a repaired MaxText: 9 iterations (2 stages, 2 repeats, 4 microbatches), each of which sums the gradients
// and, under pipeline_fsdp_ag_once, moves the stack's; weights are gathered once either way.
TEST(Pipeline, ExplicitModeSumsInEveryIteration) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.shard_mode_explicit = true;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "mlp/wi_0"), 2 * 4);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "fsdp", "mlp/wi_0"), 9 * 4);
  toy.config.pipeline_fsdp_ag_once = true;
  toy.compiler.habits.add(Habit::moves_stacks_in_compute_dtype);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "fsdp", "mlp/wi_0"), 9 * 8);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 9 * 2 * 8 + 2 * 4);
}

// Recorded: what iterations only add up is all-reduced behind the last; what is scattered, in each of them.
TEST(Pipeline, SumsOverDataWaitForTheLastIteration) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,data=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;  // 9 iterations, 2 layers a stage
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "fsdp", "mlp/wi_0"), 9 * 4);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "mlp/wi_0"), 2 * 2);
  toy.mesh = "stage=2,data=4";
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "mlp/wi_0"), 2 * 4);
}

// Recorded: weights picked each iteration get their attention projections' gradients split over the input's dim.
TEST(Pipeline, ProjectionGradientsGoFromInputToHeads) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,tensor=2"};
  toy.config.num_pipeline_microbatches = 4;
  const std::int64_t query = 4 / 2;  // MiB of [1024, 8, 128] in float32, half of it
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "tensor", "self_attention/query"), 9 * query);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "tensor", "mlp"), 0);
  toy.config.pipeline_fsdp_ag_once = true;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "tensor", "self_attention/query"), 0);
}

// Recorded: the axes that a weight keeps are shifted with its stages, onto the dim before.
TEST(Pipeline, TheLayerStackTakesTensorAlong) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,tensor=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  toy.compiler.habits.add(Habit::moves_stacks_in_compute_dtype);
  const std::int64_t full = 2 * 4 / 2, shards = full, gradients = 2 * full, moment = 2 * shards / 2;  // MiB on a device
  const auto moved = [&](CollectiveKind kind, const char* axes, const std::string& weight) {
    return mebibytes(run(toy), kind, axes, "layer_stack/mlp/" + weight);
  };
  EXPECT_EQ(moved(CollectiveKind::all_to_all, "tensor", "wi_0"), shards);
  EXPECT_EQ(moved(CollectiveKind::all_to_all, "stage+tensor", "wi_0"), full + gradients);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "stage+fsdp+tensor", "wi_0"), full + 2 * moment);
  EXPECT_EQ(moved(CollectiveKind::all_to_all, "fsdp+tensor", "wo"), shards);
  EXPECT_EQ(moved(CollectiveKind::all_to_all, "tensor", "wo"), gradients);
  EXPECT_EQ(moved(CollectiveKind::collective_permute, "stage+tensor", "wo"), full + gradients + 2 * moment);
}

TEST(Pipeline, AsManyMomentsMoveAsTheOptimizerHas) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "stage=2,tensor=2,fsdp=2"};
  toy.config.num_pipeline_microbatches = 4;
  toy.config.pipeline_fsdp_ag_once = true;
  toy.compiler.habits.add(Habit::moves_stacks_in_compute_dtype);
  const auto moved = [&](OptimizerType type) {
    toy.config.opt_type = type;
    return mebibytes(run(toy), CollectiveKind::collective_permute, "stage+tensor", "layer_stack/mlp/wo");
  };
  const std::int64_t two = moved(OptimizerType::adamw), none = moved(OptimizerType::sgd);
  EXPECT_LT(none, two);
  EXPECT_EQ(moved(OptimizerType::adam_pax), two);
  EXPECT_EQ(moved(OptimizerType::muon), none + (two - none) / 2);
}

}  // namespace
}  // namespace shardplan
