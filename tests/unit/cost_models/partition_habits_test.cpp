// What depends on the compiler's habits, and the cases that only some meshes meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy_layers.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;

std::int64_t executions(const ToyRun& toy, Phase phase, CollectiveKind kind, const std::string& part) {
  std::int64_t count = 0;
  for (const auto& c : run(toy).collectives)
    if (c.phase == phase && c.kind == kind && c.op.find(part) != std::string::npos) count += c.executions;
  return count;
}

/// Bytes a step of the collectives of one kind over exactly these axes whose operation contains `part`.
std::int64_t mebibytes(const ToyStep& step, CollectiveKind kind, const std::string& axes, const std::string& part) {
  std::int64_t bytes = 0;
  for (const auto& c : step.collectives)
    if (c.kind == kind && names(c.axes, step.mesh, "+") == axes && c.op.find(part) != std::string::npos)
      bytes += c.bytes.value * c.executions;
  return bytes / (1024 * 1024);
}

struct ConsumerRow {
  bool per_consumer;
  std::int64_t forward, recomputed, backward;
};

// Recorded: XLA:TPU gathers tensor-parallel activations 2, 2 and 2 times a layer, XLA:GPU 3, 6 and 4 times.
TEST(Habits, ActivationsAreGatheredOnceOrForEachConsumer) {
  for (const auto& row : {ConsumerRow{false, 2, 2, 2}, ConsumerRow{true, 3, 6, 4}}) {
    ToyRun toy{toy_llama(), toy_config(2, 1024), "default", "tensor=4"};
    toy.habits.gathers_activations_per_consumer = row.per_consumer;
    const auto gathers = [&](Phase phase) { return executions(toy, phase, CollectiveKind::all_gather, "layers/") / 4; };
    EXPECT_EQ(gathers(Phase::forward), row.forward);
    EXPECT_EQ(gathers(Phase::rematerialized_forward), row.recomputed);
    EXPECT_EQ(gathers(Phase::backward), row.backward);
  }
}

// 8 sequences of 1024 tokens are more than the 4096 rows of the table: the table [4096, 1024] (8 MiB) is gathered, not
// the looked-up columns [8, 1024, 1024] (16 MiB); with 2 sequences (4 MiB) it is the other way round.
TEST(Embedding, UnderContextParallelismTheSmallerOfTableAndColumnsIsGathered) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=4,context=2"};
  EXPECT_THAT(lines(run(toy), "embedding"), Contains("forward all-gather fsdp+context 8 MiB x1"));
  EXPECT_THAT(lines(run(toy), "embedding"), Contains("backward reduce fsdp+context 8 MiB x1"));
  toy.config = toy_config(0.5, 512);
  EXPECT_THAT(lines(run(toy), "embedding"), Contains("forward all-gather fsdp+context 4 MiB x1"));
}

// Four tiles: the head is gathered for forward and backward once each (ag_once: not again), reduced for each tile.
TEST(VocabularyTiles, GatherTheHeadOnceAPassAndReduceItForEachTile) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=8"};
  toy.config.num_vocab_tiling = 4;
  const auto gathers = [&](Phase phase) { return executions(toy, phase, CollectiveKind::all_gather, "logits_dense"); };
  EXPECT_EQ(gathers(Phase::forward), 1);
  EXPECT_EQ(gathers(Phase::rematerialized_forward), 1);
  EXPECT_EQ(executions(toy, Phase::backward, CollectiveKind::reduce_scatter, "logits_dense"), 4);
  toy.config.vocab_tiling_ag_once = true;
  EXPECT_EQ(gathers(Phase::rematerialized_forward), 0);
}

// A saved context spares the kernel's recomputation, not its keys and values: [8, 1024, 8, 128] is 16 MiB a pass.
TEST(ContextParallelism, GathersKeysAndValuesAgainWhereTheContextIsSaved) {
  for (const auto* policy : {"full", "minimal_with_context"}) {
    const ToyRun toy{toy_llama(), toy_config(1, 1024, policy), "default", "context=8"};
    EXPECT_EQ(executions(toy, Phase::rematerialized_forward, CollectiveKind::all_gather, "attention_op"), 8) << policy;
  }
}

// The peeled dispatch beside a second batch axis: wo [8, 512, 1024] is gathered over expert, forward and recomputed,
// and its gradient gathers both operands over everything that splits the batch (recorded for fsdp=2, expert=4; the
// total of data=2, expert=8 is published with the recordings).
TEST(PeeledDispatch, FallsBackToGatheringWoBesideASecondBatchAxis) {
  ToyRun toy{toy_mixtral(), toy_moe(toy_config(1, 256), MoePath::dropping), "default", "data=2,expert=4"};
  toy.config.moe_dispatch_no_expert_sharding = true;
  const ToyStep beside = run(toy);
  EXPECT_EQ(mebibytes(beside, CollectiveKind::all_gather, "expert", "MoeBlock_0/wo"), 8 * 4 * 2);
  EXPECT_GT(mebibytes(beside, CollectiveKind::all_gather, "data+expert", "MoeBlock_0/wo"), 0);
  toy.mesh = "expert=8";
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "expert", "MoeBlock_0/wo"), 0);
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
  toy.habits.moves_stacks_in_compute_dtype = false;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 2 * f32 + f32 + 2 * f32);
  toy.config.num_layers_per_pipeline_stage = 2;  // one repeat
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_to_all, "stage", "layer_stack/mlp/wi_0"), 0);
}

/// wi_0 is 8 MiB in float32, 4 layers of it; embedding and head 16 MiB each.
ToyRun zero1_run(const std::string& mesh) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh};
  toy.config.shard_optimizer_over_data = true;
  return toy;
}

std::int64_t gathered(const ToyRun& toy) {
  return mebibytes(run(toy), CollectiveKind::all_gather, "data", "zero1/mlp/wi_0");
}

// ZeRO-1 gathers weights once a step: in float32, but Linen on a compiler that casts first and gradient accumulation
// (which train_compile's program does after its own gather of updates) in bf16.
TEST(Zero1, GathersWeightsOverData) {
  ToyRun toy = zero1_run("data=8");
  EXPECT_EQ(gathered(toy), 4 * 8);
  toy.config.pure_nnx = false;
  toy.habits.moves_stacks_in_compute_dtype = true;
  EXPECT_EQ(gathered(toy), 4 * 4);
  toy.habits.moves_stacks_in_compute_dtype = false;
  EXPECT_EQ(gathered(toy), 4 * 8);
  toy.config.pure_nnx = true;
  toy.config.gradient_accumulation_steps = 2;
  EXPECT_EQ(gathered(toy), 4 * 4);
  toy.config.program = StepProgram::train_compile;
  EXPECT_EQ(gathered(toy), 4 * 8);
  toy.config.shard_optimizer_over_data = false;
  EXPECT_EQ(gathered(toy), 0);
}

TEST(Zero1, SwapsShardsWhereDataJoinsFsdp) {
  EXPECT_EQ(mebibytes(run(zero1_run("data=2,fsdp=4")), CollectiveKind::collective_permute, "data+fsdp", "zero1/mlp/wi_0"),
            4 * 8 / 4 / 2);
}

// Gradients go to the optimizer's shards: reduce-scatter. Accumulated ones stay whole. The table's rows come to the
// shards where they are smaller than the table: 8 x 1024 rows of 2 KiB against 4096.
TEST(Zero1, ScattersGradientsToTheirShards) {
  ToyRun toy = zero1_run("data=8");
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "data", "mlp/wi_0"), 4 * 4);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "mlp/wi_0"), 0);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "token_embedder"), 8);
  toy.config.max_target_length = 128;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "token_embedder"), 0);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "data", "token_embedder"), 2 + 16);  // and the weight
  toy.config.gradient_accumulation_steps = 2;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "mlp/wi_0"), 2 * 4 * 4);
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
  toy.habits.moves_stacks_in_compute_dtype = true;
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
  toy.habits.moves_stacks_in_compute_dtype = true;
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

}  // namespace
}  // namespace shardplan
