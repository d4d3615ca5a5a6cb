// One mixture-of-experts layer on every path, against what XLA compiled for the same small models on 8 devices
// (SHARDING.md sections 1.6, 2.4, 2.5, 7 and 9).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <models/load_model.hpp>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr Bytes large{64 * 1024 + 1};  // leaves out the router's side traffic and norms

enum class Dispatch { as_ruled, peeled };  // moe_dispatch_no_expert_sharding

ToyRun dropping(const std::string& mesh, Dispatch dispatch, const std::string& remat = "full",
                const std::string& rules = "default") {
  ToyRun toy{toy_mixtral(), toy_moe(toy_config(2, 256, remat), MoePath::dropping), rules, mesh};
  toy.config.moe_dispatch_no_expert_sharding = dispatch == Dispatch::peeled;
  return toy;
}

std::int64_t a_layer(const ToyStep& step, const std::string& block, CollectiveKind kind,
                     const std::string& part = "MoeBlock_0") {
  std::int64_t count = 0;
  for (const auto& c : step.collectives)
    if (c.op.starts_with(block + "/") && c.op.find(part) != std::string::npos && c.kind == kind) count += c.executions;
  return count / step.layers.at(block);
}

// MaxText #4179: the batch dim takes the expert axis, so the expert weights [8, 512, 1024] are gathered over it and
// their gradients reduced; no token moves.
TEST(Dropping, AsRuledGathersExpertWeightsLikeFsdp) {
  const ToyStep step = run(dropping("expert=8", Dispatch::as_ruled));
  EXPECT_THAT(
      lines(step, "layers", "MoeBlock_0/w"),
      UnorderedElementsAre("forward all-gather expert 8 MiB x3", "rematerialized_forward all-gather expert 8 MiB x3",
                           "backward reduce expert 8 MiB x3"));
  EXPECT_EQ(a_layer(step, "layers", CollectiveKind::all_to_all), 0);
}

// The constraint on experts' weights splits them over expert alone: gradients are scattered there, then over fsdp, also
// where those of several split dims are summed whole.
TEST(Dropping, GradientsAreSummedToTheirConstraintFirst) {
  ToyRun toy = dropping("fsdp=2,expert=4", Dispatch::as_ruled);
  toy.compiler = with(plain_compiler(), Habit::sums_over_several_dims_at_once);
  const ToyStep step = run(toy);
  const auto sums = [&](const char* axes) {
    return mebibytes(step, CollectiveKind::all_reduce, axes, "MoeBlock_0/wi_0") +
           mebibytes(step, CollectiveKind::reduce_scatter, axes, "MoeBlock_0/wi_0");
  };
  EXPECT_EQ(sums("expert"), 4 * sums("fsdp"));
  EXPECT_GT(sums("fsdp"), 0);
  EXPECT_EQ(sums("fsdp+expert") + sums("expert+fsdp"), 0);
}

// Peeled: tokens [8, 2, 64, 512] go to their experts and back, and no expert weight moves.
TEST(Dropping, PeeledExchangesTokens) {
  const ToyStep step = run(dropping("expert=8", Dispatch::peeled));
  EXPECT_THAT(
      lines(step, "layers", "MoeBlock_0", large),
      UnorderedElementsAre("forward all-to-all expert 1 MiB x2", "rematerialized_forward all-to-all expert 1 MiB x2",
                           "backward all-to-all expert 1 MiB x2", "forward all-gather expert 96 KiB x1",
                           "rematerialized_forward all-gather expert 96 KiB x1"));
}

struct RematRow {
  const char* remat;
  std::int64_t exchanges;
};

// Saving mlpwo saves the return of the recomputed forward.
TEST(Dropping, ExchangesSixTimesUnderFullAndFiveWhereTheOutputIsSaved) {
  for (const auto& [remat, exchanges] : {RematRow{"full", 6},
                                         {"save_qkv_proj", 6},
                                         {"save_dot_except_mlp", 6},
                                         {"save_dot_except_mlpwi", 5},
                                         {"minimal", 5},
                                         {"minimal_with_context", 5}})
    EXPECT_EQ(a_layer(run(dropping("expert=8", Dispatch::peeled, remat)), "layers", CollectiveKind::all_to_all),
              exchanges)
        << remat;
}

TEST(Dropping, WithoutAnExpertAxisThePeelChangesNothing) {
  const auto a = run(dropping("fsdp=8", Dispatch::as_ruled)), b = run(dropping("fsdp=8", Dispatch::peeled));
  EXPECT_EQ(lines(a, "layers"), lines(b, "layers"));
  EXPECT_EQ(a_layer(a, "layers", CollectiveKind::all_to_all), 0);
}

// Scatter indices [16, 256, 2, 3] and expert ids [16, 256, 2] of all tokens in 4 B integers, routing weights
// [16, 256, 8] in 2 B: they grow with the global batch.
TEST(Dropping, RouterTrafficIsGlobal) {
  EXPECT_THAT(
      lines(run(dropping("expert=8", Dispatch::as_ruled)), "layers", "MoeBlock_0/routing"),
      UnorderedElementsAre("forward all-gather expert 96 KiB x1", "forward all-gather expert 32 KiB x1",
                           "forward reduce expert 64 KiB x1", "rematerialized_forward all-gather expert 96 KiB x1",
                           "rematerialized_forward all-gather expert 32 KiB x1",
                           "rematerialized_forward reduce expert 64 KiB x1", "backward all-gather expert 64 KiB x1"));
}

// No constraint splits tokens over expert, but masks are made in slices: routing is as global, logits are not gathered, and
// the one-hot ids [16, 512, 8] of a byte each and the logits' gradient [16, 256, 8] go to their constraints.
TEST(Dropping, RoutingRunsInTheSlicesOfItsMasks) {
  const ToyStep step = run(dropping("expert=8", Dispatch::as_ruled, "full", "pipeline-large-moe"));
  EXPECT_THAT(
      lines(step, "layers", "MoeBlock_0/routing"),
      UnorderedElementsAre("forward all-gather expert 96 KiB x1", "forward all-gather expert 64 KiB x1",
                           "forward all-gather expert 32 KiB x1", "forward reduce expert 64 KiB x1",
                           "rematerialized_forward all-gather expert 96 KiB x1",
                           "rematerialized_forward all-gather expert 64 KiB x1",
                           "rematerialized_forward all-gather expert 32 KiB x1",
                           "rematerialized_forward reduce expert 64 KiB x1", "backward all-gather expert 64 KiB x2"));
  EXPECT_THAT(lines(step, "layers", "MoeBlock_0/gate"), Not(Contains(HasSubstr("forward all-gather expert 64 KiB"))));
}

// Of 16 experts for two chosen the weights of those [16, 256, 2] are brought together, and their gradient summed: 16 KiB.
TEST(Dropping, FewOfManyRoutingWeightsAreGathered) {
  ToyRun toy = dropping("expert=8", Dispatch::as_ruled);
  toy.model.num_experts = 16;
  EXPECT_THAT(lines(run(toy), "layers", "MoeBlock_0/routing"),
              IsSupersetOf({"forward all-gather expert 16 KiB x1", "rematerialized_forward all-gather expert 16 KiB x1",
                            "backward reduce expert 16 KiB x1"}));
}

// fsdp 2 beside expert 4: the un-peeled output constraint makes the return exchange happen before wo, on the hidden
// rows (2 MiB), and wo is gathered over expert like an FSDP weight; wi_0 and wi_1 stay on their experts.
TEST(Dropping, PeeledBesideFsdpGathersTheOutputWeightOverExpert) {
  const ToyStep step = run(dropping("fsdp=2,expert=4", Dispatch::peeled));
  EXPECT_THAT(lines(step, "layers", "MoeBlock_0", large),
              IsSupersetOf({"forward all-to-all expert 1 MiB x1", "forward all-to-all expert 2 MiB x1",
                            "forward all-gather fsdp 2 MiB x3", "forward all-gather expert 8 MiB x1"}));
  EXPECT_EQ(a_layer(step, "layers", CollectiveKind::all_to_all), 6);
  for (const char* weight : {"MoeBlock_0/wi_0", "MoeBlock_0/wi_1"})
    EXPECT_THAT(lines(step, "layers", weight), Not(Contains(HasSubstr("forward all-gather expert"))));
}

// Default rules with context beside expert: experts are gathered over fsdp+context (4 local experts, 4 MiB) and then
// over expert (8 MiB).
TEST(Dropping, AsRuledBesideContextGathersExpertsInTwoSteps) {
  EXPECT_THAT(lines(run(dropping("fsdp=2,context=2,expert=2", Dispatch::as_ruled)), "layers", "MoeBlock_0/w"),
              IsSupersetOf({"forward all-gather fsdp+context 4 MiB x3", "forward all-gather expert 8 MiB x3"}));
}

// Case C of SHARDING.md 1.6: rules whose activation_batch_moe lacks the expert axis need no peel: expert weights stay.
TEST(Dropping, RulesWithoutTheExpertAxisInTheMoeBatchLeaveExpertsInPlace) {
  for (const char* rules : {"ep-as-cp", "cp-as-ep", "shard-exp-on-fsdp", "pipeline-large-moe"})
    EXPECT_THAT(lines(run(dropping("expert=8", Dispatch::as_ruled, "full", rules)), "layers", "MoeBlock_0/w"),
                Not(Contains(HasSubstr("forward all-gather expert 8 MiB x3"))))
        << rules;
}

// Rules that leave both batch and experts of the dispatch without the axis: rows [8, 16, 64, 512] (8 MiB) are made
// of this device's tokens and gathered; wi_0 and wi_1 [8, 512, 1024] (8 MiB) are gathered: rows and products are wanted
// whole; wo reads hidden rows, which no constraint has, and its rows are gathered. Backward those of the combine and of the
// dispatch. Compiled: mixtral8x7bx4_v5p8_ep8_offdispatch.
TEST(Dropping, RulesOffTheDispatchGatherRowsAndTheirFirstWeights) {
  ToyRun toy = dropping("expert=8", Dispatch::as_ruled);
  toy.changes.rules = {{"activation_batch_moe", {"data", "fsdp"}}, {"activation_exp", {}}};
  const ToyStep step = run(toy);
  EXPECT_THAT(lines(step, "layers", "MoeBlock_0", large),
              IsSupersetOf({"forward all-gather expert 8 MiB x4", "rematerialized_forward all-gather expert 8 MiB x4",
                            "backward all-gather expert 8 MiB x2"}));
  EXPECT_THAT(lines(step, "layers", "MoeBlock_0/w"), Not(Contains(HasSubstr("reduce"))))
      << "weight gradients are made of slices";
}

// There the combine moves rows [8, 16, 64, 512] of all experts (1 MiB a device) to their batch, however many they are, and
// masks [16, 256, 8, 64] are made in slices; under ep-as-cp, whose expert axis splits sequences, it gathers them (8 MiB).
TEST(Dropping, CombineMovesRowsToWhereTheTokensAre) {
  ToyRun toy = dropping("expert=8", Dispatch::as_ruled, "full", "pipeline-large-moe");
  EXPECT_THAT(
      lines(run(toy), "layers", "MoeBlock_0/", large),
      IsSupersetOf({"forward all-gather expert 4 MiB x2", "forward all-to-all expert 1 MiB x1",
                    "rematerialized_forward all-gather expert 4 MiB x2",
                    "rematerialized_forward all-gather expert 8 MiB x1", "backward all-gather expert 4 MiB x1"}));
  toy.config.capacity_factor = 8;
  const auto wide = lines(run(toy), "layers", "MoeBlock_0/", large);
  EXPECT_THAT(wide, Contains("forward all-to-all expert 8 MiB x1"));
  EXPECT_THAT(wide, Not(Contains(HasSubstr("forward reduce"))));
  toy.compiler = without(toy.compiler, Habit::sends_expert_rows);
  EXPECT_THAT(lines(run(toy), "layers", "MoeBlock_0/", large), Contains("forward reduce expert 4 MiB x1"));
  const auto along_the_sequence = run(dropping("expert=8", Dispatch::as_ruled, "full", "ep-as-cp"));
  EXPECT_THAT(lines(along_the_sequence, "layers", "MoeBlock_0/combine"), Contains("forward all-gather expert 8 MiB x1"));
}

// Masks [16, 256, 8, 64] of 4 MiB: their gradient is made of all experts' rows (8 MiB gathered), or of the rows as they lie
// and gathered.
TEST(Dropping, TheGradientOfAMaskIsMadeOfAllRowsOrGathered) {
  ToyRun toy = dropping("expert=8", Dispatch::as_ruled, "full", "pipeline-large-moe");
  EXPECT_THAT(lines(run(toy), "layers", "MoeBlock_0/combine"),
              Contains("rematerialized_forward all-gather expert 8 MiB x1"));
  toy.compiler = with(toy.compiler, Habit::gathers_mask_gradients);
  const auto gathered = lines(run(toy), "layers", "MoeBlock_0/combine");
  EXPECT_THAT(gathered, Contains("backward all-gather expert 4 MiB x2")) << "of the mask and of the tokens";
  EXPECT_THAT(gathered, Not(Contains(HasSubstr("8 MiB"))));
}

// Under shard-exp-on-fsdp experts [8, 512, 1024] are split over expert and fsdp on one dim, tokens over fsdp: gradients of
// the two experts of a device, 2 MiB, are summed over fsdp and gathered to 8 MiB, of which it keeps one.
TEST(Dropping, GradientsOfExpertsThatFsdpSplitsTooAreSummedWhole) {
  const ToyStep step = run(dropping("fsdp=2,expert=4", Dispatch::as_ruled, "full", "shard-exp-on-fsdp"));
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "MoeBlock_0/wi_0"), 4 * 2);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_gather, "expert", "MoeBlock_0/wi_0"), 4 * 8);
  EXPECT_EQ(mebibytes(step, CollectiveKind::reduce_scatter, "fsdp", "MoeBlock_0/wi_0"), 0);
}

TEST(Dropping, EpAsDpStealsTheExpertAxisAsDefaultDoes) {
  EXPECT_THAT(lines(run(dropping("expert=8", Dispatch::as_ruled, "full", "ep-as-dp")), "layers", "MoeBlock_0/w"),
              Contains("forward all-gather expert 8 MiB x3"));
}

// What a device sends a layer, (g-1)/g of the bytes, in GB.
double sent(const ToyStep& step) {
  double bytes = 0;
  for (const auto& c : step.collectives)
    if (c.op.starts_with("layers/MoeBlock_0/") && c.bytes >= Bytes{100'000'000})
      bytes += static_cast<double>(c.bytes.value * c.executions) * static_cast<double>(c.group_size - 1) /
               static_cast<double>(c.group_size);
  return bytes / static_cast<double>(step.layers.at("layers")) / 1e9;
}

// The figures of MaxText #4179: mixtral-8x7b, 8-way expert axis, 88 sequences of 4096, capacity 1024.
TEST(Dropping, WorkedBytesOfMixtral) {
  ToyRun mixtral{load_model("mixtral-8x7b"), toy_moe(toy_config(11, 4096), MoePath::dropping), "default", "expert=8"};
  EXPECT_NEAR(sent(run(mixtral)), 7.40, 0.005);  // 2 × 2.466 gathered, 2.466 reduced
  mixtral.config.moe_dispatch_no_expert_sharding = true;
  EXPECT_NEAR(sent(run(mixtral)), 3.88, 0.005);  // 6 × 0.646
  mixtral.config.saved = saved_by_policy("minimal_with_context");
  EXPECT_NEAR(sent(run(mixtral)), 3.23, 0.005);  // 5 × 0.646
}

TEST(Dropping, TpuGathersPlainWeightsOfMoeLayersTwiceInTheBackwardPass) {
  ToyRun tpu = dropping("expert=8", Dispatch::peeled);
  tpu.compiler.habits.add(Habit::gathers_moe_layer_weights_twice);
  EXPECT_THAT(
      lines(run(tpu), "layers", "layers/self_attention"),
      UnorderedElementsAre("forward all-gather expert 512 KiB x4",
                           "rematerialized_forward all-gather expert 512 KiB x8", "backward reduce expert 512 KiB x4"));
  EXPECT_THAT(lines(run(tpu), "layers", "MoeBlock_0/gate"),
              Contains("rematerialized_forward all-gather expert 8 KiB x1"));
}

ToyRun deepseek(const std::string& mesh, MoePath path, const std::string& rules = "default") {
  return {toy_deepseek(), toy_moe(toy_config(1, 1024), path), rules, mesh};
}

// 1024 local tokens × 4 experts × 1024 × 2 B: 8 MiB there and 8 MiB back, in each of the three passes.
TEST(Ragged, SendsEachTokenToItsExpertsAndBackInEveryPass) {
  EXPECT_THAT(lines(run(deepseek("fsdp=2,expert=4", MoePath::ragged)), "moe_layers", "MoeBlock_0", large),
              UnorderedElementsAre("forward ragged-all-to-all expert 8 MiB x2",
                                   "rematerialized_forward ragged-all-to-all expert 8 MiB x2",
                                   "backward ragged-all-to-all expert 8 MiB x2", "forward all-gather fsdp 4 MiB x3",
                                   "rematerialized_forward all-gather fsdp 4 MiB x3", "backward reduce fsdp 4 MiB x3"));
}

TEST(Ragged, HasTheSameExchangesUnderMinimal) {
  ToyRun minimal = deepseek("fsdp=2,expert=4", MoePath::ragged);
  minimal.config.saved = saved_by_policy("minimal");
  EXPECT_EQ(a_layer(run(minimal), "moe_layers", CollectiveKind::ragged_all_to_all), 6);
}

// Context and expert are one group of 4 devices; half a sequence a device: 512 tokens × 4 experts.
TEST(Ragged, UnderCpAsEpExchangesOverContextAndExpert) {
  ToyRun toy = deepseek("fsdp=2,context=2,expert=2", MoePath::ragged, "cp-as-ep");
  toy.config.per_device_batch_size = 0.5;
  EXPECT_THAT(lines(run(toy), "moe_layers", "MoeBlock_0"),
              IsSupersetOf({"forward ragged-all-to-all context+expert 4 MiB x2",
                            "rematerialized_forward ragged-all-to-all context+expert 4 MiB x2",
                            "backward ragged-all-to-all context+expert 4 MiB x2"}));
}

// MaxText #3988: experts over expert·fsdp; the shard_map takes fsdp off dim 0 again.
TEST(Ragged, UnderShardExpOnFsdpGathersWholeExpertsOverFsdp) {
  ToyRun toy{toy_mixtral(), toy_moe(toy_config(2, 256), MoePath::ragged), "shard-exp-on-fsdp", "fsdp=4,expert=2"};
  EXPECT_THAT(
      lines(run(toy), "layers", "MoeBlock_0", large),
      UnorderedElementsAre("forward all-gather fsdp 4 MiB x3", "rematerialized_forward all-gather fsdp 4 MiB x3",
                           "backward reduce fsdp 4 MiB x3", "forward ragged-all-to-all expert 1 MiB x2",
                           "rematerialized_forward ragged-all-to-all expert 1 MiB x2",
                           "backward ragged-all-to-all expert 1 MiB x2"));
}

// The rows' gradient is a partial sum over tensor: it goes back as it is, and is summed where a device's 2048 tokens of 1024
// entered (4 MiB), not where 4 rows of each are (16 MiB). The router sums its logits over tensor: only the dispatch gathers.
TEST(Ragged, SumsTheRowsGradientWhereTheTokensEntered) {
  const ToyStep step = run(deepseek("tensor=2,expert=4", MoePath::ragged));
  EXPECT_THAT(lines(step, "moe_layers", "MoeBlock_0/dispatch", large),
              UnorderedElementsAre("forward all-gather tensor 4 MiB x1", "forward ragged-all-to-all expert 16 MiB x1",
                                   "rematerialized_forward all-gather tensor 4 MiB x1",
                                   "rematerialized_forward ragged-all-to-all expert 16 MiB x1",
                                   "backward ragged-all-to-all expert 16 MiB x1", "backward reduce tensor 4 MiB x1"));
  EXPECT_THAT(lines(step, "moe_layers", "MoeBlock_0/wi_", large), testing::IsEmpty());
}

// 1024 tokens × 4 experts × 192 columns in bf16 are 1.5 MiB; as tiles of 2 x 128, 256 columns, 2 MiB.
TEST(Ragged, RowsTravelInWholeTiles) {
  const auto exchanged = [](const Compiler& compiler) {
    ToyRun toy = deepseek("fsdp=2,expert=4", MoePath::ragged);
    toy.model.emb = 192;
    toy.compiler = compiler;
    std::int64_t bytes = 0;
    for (const auto& c : run(toy).collectives)
      if (c.kind == CollectiveKind::ragged_all_to_all) bytes = std::max(bytes, c.bytes.value);
    return bytes;
  };
  EXPECT_EQ(exchanged(plain_compiler()), 3 << 19);
  EXPECT_EQ(exchanged(with(plain_compiler(), Habit::pads_to_tiles)), 2 << 20);
}

TEST(Ragged, WithoutAnExpertAxisExchangesNothing) {
  EXPECT_EQ(a_layer(run(deepseek("fsdp=8", MoePath::ragged)), "moe_layers", CollectiveKind::ragged_all_to_all), 0);
}

// Tokens [4, 1024, 1024] (8 MiB) and router logits [4, 1024, 16] (128 KiB) go round the ring; the forward
// reduce-scatter is dead code in the recomputation.
TEST(Ring, GathersTokensAndScattersOutputs) {
  EXPECT_THAT(lines(run(deepseek("fsdp=2,expert=4", MoePath::ring)), "moe_layers", "MoeBlock_0/dispatch"),
              UnorderedElementsAre("forward all-gather expert 8 MiB x1", "forward all-gather expert 128 KiB x1",
                                   "rematerialized_forward all-gather expert 8 MiB x1",
                                   "rematerialized_forward all-gather expert 128 KiB x1",
                                   "backward reduce expert 8 MiB x1", "backward reduce expert 128 KiB x1"));
  EXPECT_THAT(lines(run(deepseek("fsdp=2,expert=4", MoePath::ring)), "moe_layers", "MoeBlock_0/return"),
              UnorderedElementsAre("forward reduce expert 8 MiB x1", "backward all-gather expert 8 MiB x1"));
}

// The gate of deepseek carries embed_moe: fsdp, not expert, splits it. Shared experts are a dense MLP of 2 × 512.
TEST(DeepSeek, SharedExpertsMoveLikeADenseMlpAndTheGateOverFsdpOnly) {
  const ToyStep step = run(deepseek("fsdp=2,expert=4", MoePath::ragged));
  EXPECT_THAT(lines(step, "moe_layers", "shared_experts/w"),
              UnorderedElementsAre("forward all-gather fsdp+expert 2 MiB x3",
                                   "rematerialized_forward all-gather fsdp+expert 2 MiB x3",
                                   "backward reduce fsdp+expert 2 MiB x3"));
  EXPECT_THAT(
      lines(step, "moe_layers", "MoeBlock_0/gate"),
      UnorderedElementsAre("forward all-gather fsdp 32 KiB x1", "rematerialized_forward all-gather fsdp 32 KiB x1",
                           "backward reduce fsdp 32 KiB x1", "backward reduce expert 16 KiB x1"));
}

// A scan of one layer is no loop: nothing is recomputed, so nothing is gathered twice.
TEST(DeepSeek, ASingleFirstDenseLayerIsNotRecomputed) {
  ToyRun toy = deepseek("fsdp=2,expert=4", MoePath::ragged);
  EXPECT_THAT(lines(run(toy), "dense_layers", "mlp"),
              UnorderedElementsAre("forward all-gather fsdp+expert 4 MiB x3", "backward reduce fsdp+expert 4 MiB x3"));
  toy.model.first_dense_layers = 2;
  EXPECT_THAT(lines(run(toy), "dense_layers", "mlp"),
              Contains("rematerialized_forward all-gather fsdp+expert 4 MiB x3"));
}

// Latent attention exchanges expanded keys [4, 1024, 8, 192] and values [4, 1024, 8, 128], not the 576-wide latent.
TEST(DeepSeek, ContextGathersExpandedKeysAndValues) {
  ToyRun toy = deepseek("fsdp=2,context=4", MoePath::ragged);
  toy.config.per_device_batch_size = 1;
  EXPECT_THAT(lines(run(toy), "moe_layers", "attention_op"),
              UnorderedElementsAre("forward all-gather context 12 MiB x1", "forward all-gather context 8 MiB x1",
                                   "rematerialized_forward all-gather context 12 MiB x1",
                                   "rematerialized_forward all-gather context 8 MiB x1",
                                   "backward reduce context 12 MiB x1", "backward reduce context 8 MiB x1"));
}

// The 512 of the low rank, and 64 past the norm, are split as the norm's scale is. Two sequences of 1024 tokens are 4 MiB
// of features; of the joint low rank [2, 1024, 576], in partial sums, 2.25, of what heads are projected from 2.
TEST(DeepSeek, LowRanksAreSplitAsTheirNormsScale) {
  ToyRun toy = deepseek("tensor=2", MoePath::ragged);
  toy.config.per_device_batch_size = 1;
  EXPECT_THAT(lines(run(toy), "moe_layers", "self_attention/wkv_a"), Contains("forward reduce tensor 2304 KiB x1"));
  EXPECT_THAT(lines(run(toy), "moe_layers", "self_attention/wkv_b"), Contains("forward all-gather tensor 2 MiB x1"));
}

}  // namespace
}  // namespace shardplan
