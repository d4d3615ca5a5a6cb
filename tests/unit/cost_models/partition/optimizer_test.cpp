// What the optimizer moves: ZeRO-1's weights and gradients, muon's matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cost_models/step/muon_matrix.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::IsEmpty;

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
  toy.compiler.habits.add(Habit::moves_stacks_in_compute_dtype);
  EXPECT_EQ(gathered(toy), 4 * 4);
  toy.compiler.habits.remove(Habit::moves_stacks_in_compute_dtype);
  EXPECT_EQ(gathered(toy), 4 * 8);
  toy.config.pure_nnx = true;
  toy.config.gradient_accumulation_steps = 2;
  EXPECT_EQ(gathered(toy), 4 * 4);
  toy.config.program = StepProgram::train_compile;
  EXPECT_EQ(gathered(toy), 4 * 8);
  toy.config.shard_optimizer_over_data = false;
  EXPECT_EQ(gathered(toy), 0);
}

std::int64_t moved(const ToyRun& toy, CollectiveKind kind, const std::string& axes) {
  return mebibytes(run(toy), kind, axes, "zero1/mlp/wi_0");
}

// 32 MiB of wi_0, split over data=2 and fsdp=4 on one dim, data first: a device's 4 MiB change places before the gather to
// 8, and the update of 8 MiB in fsdp's order with moments in data's gathers both whole and puts 4 MiB of the sum back.
TEST(Zero1, GathersWeightAndUpdateWholeWhereDataJoinsFsdp) {
  ToyRun toy = zero1_run("data=2,fsdp=4");
  EXPECT_EQ(moved(toy, CollectiveKind::collective_permute, "data+fsdp"), 2 * 4);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data"), 8);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "fsdp"), 32);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data+fsdp"), 32);
  toy.compiler.habits.add(Habit::permutes_before_gathers);  // the weight is put in order instead
  EXPECT_EQ(moved(toy, CollectiveKind::collective_permute, "data+fsdp"), 3 * 4);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "fsdp"), 0);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data+fsdp"), 32);
}

// Accumulated gradients lie in the weight's order: each of two moments has its shard of them put in its own, in bf16, and
// the weights that are updated have never been gathered.
TEST(Zero1, AccumulatedGradientsChangePlacesForEachMoment) {
  ToyRun toy = zero1_run("data=2,fsdp=4");
  toy.config.gradient_accumulation_steps = 2;
  EXPECT_EQ(moved(toy, CollectiveKind::collective_permute, "data+fsdp"), 3 * 2);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data+fsdp"), 0);
}

// 512 rows that fsdp=4 leaves are 171 short of a third: data=3 takes the 2049 columns, and nothing changes places.
TEST(Zero1, TakesADimOfItsOwnWhereItDoesntDivideTheFirst) {
  ToyRun toy = zero1_run("data=3,fsdp=4");
  toy.model.mlp = 2049;
  EXPECT_EQ(moved(toy, CollectiveKind::collective_permute, "data+fsdp"), 0);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data+fsdp"), 0);
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data"), 4 * 1024 * 2049 / 1024 * 4 / 1024 / 4);
}

// Six layers in one array [1024, 6, 2048]: data=3 takes theirs, behind the first dim and before the columns. A loop over
// layers can't scatter to it.
TEST(Zero1, TakesTheLayersOfAStack) {
  ToyRun toy = zero1_run("data=3,fsdp=4");
  toy.model.layers = 6;
  toy.model.mlp = 3072;
  EXPECT_EQ(moved(toy, CollectiveKind::all_gather, "data"), 6 * 12 / 4);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data", "mlp/wi_0"), 6 * 6 / 4);
}

// Both axes split the sum: one reduction of 4 layers' 4 MiB in bf16 over both. A sum for shards of two dims is made whole.
TEST(Zero1, SumsGradientsOverDataAndFsdpAtOnce) {
  const ToyStep step = run(zero1_run("data=2,fsdp=4"));
  EXPECT_EQ(mebibytes(step, CollectiveKind::reduce_scatter, "data+fsdp", "mlp/wi_0"), 4 * 4);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "data+fsdp", "mlp/wo"), 4 * 4);
}

// What a shard_map takes whole is summed by one psum: 8 experts of 1 MiB in bf16.
TEST(Gradients, OfExpertsInAShardMapAreOneSumOverDataAndFsdp) {
  const ToyRun toy{toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "data=2,fsdp=4"};
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_reduce, "data+fsdp", "MoeBlock_0/wi_0"), 4 * 8);
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

// Beside fsdp the table's rows become columns, and those of all data shards are gathered; of more data shards than fsdp has
// devices the rows come first. 512 rows on each of 8 devices are 1 MiB, the table 16.
TEST(Zero1, LooksThroughItsColumnsOfAllRows) {
  const auto moved = [](const char* mesh) {
    ToyRun toy = zero1_run(mesh);
    toy.model.vocab = 8192;
    toy.config.max_target_length = 512;
    return lines(run(toy), "embedding", "token_embedder", Bytes{1 << 20});
  };
  EXPECT_THAT(moved("data=2,fsdp=4"), testing::IsSupersetOf({"backward all-to-all fsdp 1 MiB x1",
                                                             "backward all-gather data 2 MiB x1"}));
  EXPECT_THAT(moved("data=4,fsdp=2"), testing::IsSupersetOf({"backward all-gather data 4 MiB x1",
                                                             "backward all-to-all fsdp 4 MiB x1",
                                                             "backward collective-permute data+fsdp 1 MiB x1"}));
}

// Newton-Schulz: five steps, each contracting the dim that fsdp splits. Experts: 3 layers × 8 local experts of
// [512, 512] float32 are 24 MiB; with the experts themselves over fsdp no matrix is split.
TEST(Optimizer, MuonReducesForEachNewtonSchulzStepUnlessExpertsAreWhole) {
  ToyRun muon{toy_deepseek(), toy_moe(toy_config(1, 1024), MoePath::dropping), "default", "fsdp=4,expert=2"};
  muon.config.opt_type = OptimizerType::muon;
  const auto reductions_of_experts = [&muon] {
    std::vector<Collective> found;
    for (const auto& c : run(muon).collectives)
      if (c.phase == Phase::optimizer && c.op.find("MoeBlock_0/w") != std::string::npos) found.push_back(c);
    return found;
  };
  std::int64_t steps = 0;
  for (const auto& reduction : reductions_of_experts()) {
    EXPECT_EQ(reduction.bytes, Bytes{24 * 512 * 512 * 4});
    steps += reduction.executions;
  }
  EXPECT_EQ(steps, 15);
  muon.rules = "shard-exp-on-fsdp";
  EXPECT_THAT(reductions_of_experts(), IsEmpty());
  muon.rules = "default";
  muon.config.opt_type = OptimizerType::adamw;
  EXPECT_THAT(reductions_of_experts(), IsEmpty());
}

// A matrix that is split on the dim it keeps (the smaller; of a square one the rows) is gathered in every step, and so
// is its Gram matrix: 4 layers of [1024, 2048] in float32 are 32 MiB, of [1024, 1024] 16 MiB.
TEST(Optimizer, MuonGathersMatricesThatAreSplitOnTheirSmallerDim) {
  ToyRun muon{toy_llama(), toy_config(1, 1024), "default", "fsdp=4"};
  muon.config.opt_type = OptimizerType::muon;
  muon.compiler.habits.remove(Habit::moves_stacks_in_compute_dtype);
  const auto gathered = [&](const char* weight) {
    return mebibytes(run(muon), CollectiveKind::all_gather, "fsdp", std::string("muon/") + weight);
  };
  const auto reduced = [&](const char* weight) {
    return mebibytes(run(muon), CollectiveKind::all_reduce, "fsdp", std::string("muon/") + weight);
  };
  EXPECT_EQ(gathered("mlp/wi_0"), 5 * (32 + 16));
  EXPECT_EQ(reduced("mlp/wi_0"), 0);
  EXPECT_EQ(gathered("self_attention/query"), 5 * (16 + 16));
  EXPECT_EQ(reduced("self_attention/out"), 5 * 16);
  EXPECT_EQ(gathered("self_attention/out"), 0);
  muon.compiler.habits.add(Habit::moves_stacks_in_compute_dtype);
  EXPECT_EQ(gathered("mlp/wi_0"), 5 * (16 + 8));
  muon.compiler.habits.add(Habit::gathers_activations_per_consumer);
  EXPECT_EQ(gathered("mlp/wi_0"), 5 * (16 + 16 + 8)) << "transposed, too";
}

// Five steps of A = XXᵀ, A² and (bA + cA²)X for four layers' matrices over fsdp=4. Feed-forward, [1024, 2048], query, key
// and value, [1024, 1024]: 256 rows of each on a device. Attention's output, split by columns: all rows, 256 columns.
TEST(Optimizer, MuonMultipliesInEachNewtonSchulzStep) {
  TrainConfig config = toy_config(1, 1024);
  config.opt_type = OptimizerType::muon;
  const ToyMemory toy({toy_llama(), config, "default", "fsdp=4"});
  double flops = 0;
  for (const auto& product : newton_schulz_products(toy.blocks(), toy.bound(), config, toy.compiler()))
    flops += product.forward.value;
  const double feed_forward = 3 * 256.0 * 1024 * (2048 + 1024 + 2048), inputs = 3 * 256.0 * 1024 * (3 * 1024),
               output = 1024.0 * 1024 * (256 + 1024 + 256);
  EXPECT_DOUBLE_EQ(flops, 5 * 4 * 2 * (feed_forward + inputs + output));
  config.opt_type = OptimizerType::adamw;
  EXPECT_TRUE(newton_schulz_products(toy.blocks(), toy.bound(), config, toy.compiler()).empty());
}

// Split on both: X is gathered over the axes of the kept dim alone. Where those are more devices than split the other, each
// sums its rows of A, which are gathered; where they are fewer, A is summed whole.
TEST(Optimizer, MuonSumsRowsOfMatricesThatAreSplitOnBothDims) {
  ToyRun muon{toy_llama(), toy_config(1, 1024), "default", "fsdp=4,tensor=2"};
  muon.config.opt_type = OptimizerType::muon;
  muon.compiler.habits.remove(Habit::moves_stacks_in_compute_dtype);
  const auto moved = [&](CollectiveKind kind, const char* axis, const char* weight) {
    return mebibytes(run(muon), kind, axis, std::string("muon/") + weight);
  };
  EXPECT_EQ(moved(CollectiveKind::all_gather, "fsdp", "mlp/wi_0"), 5 * (16 + 16));
  EXPECT_EQ(moved(CollectiveKind::all_reduce, "tensor", "mlp/wi_0"), 5 * 4);
  EXPECT_EQ(moved(CollectiveKind::all_gather, "tensor", "self_attention/out"), 5 * 4);
  EXPECT_EQ(moved(CollectiveKind::all_reduce, "fsdp", "self_attention/out"), 5 * 16);
}

}  // namespace
}  // namespace shardplan
