// One dense layer and the two ends of a step, against what XLA compiled for the same small model on 8 devices
// (SHARDING.md section 9). Weights of the toy: wi_0, wi_1, wo 4 MiB; query, key, value, out 2 MiB; norms 2 KiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr Bytes large{64 * 1024};  // leaves out norm scales and statistics

ToyRun llama(const std::string& mesh, const std::string& remat = "full") {
  return {toy_llama(), toy_config(1, 1024, remat), "default", mesh};
}

TEST(DenseLayer, OnOneDeviceMovesNothing) { EXPECT_THAT(run(llama("")).collectives, IsEmpty()); }

TEST(DenseLayer, FsdpGathersEachWeightOnceAPassAndReducesItsGradient) {
  for (const char* remat : {"full", "minimal", "minimal_with_context", "save_qkv_proj"})
    EXPECT_THAT(lines(run(llama("fsdp=8", remat)), "layers"),
                UnorderedElementsAre("forward all-gather fsdp 4 MiB x3", "forward all-gather fsdp 2 MiB x4",
                                     "rematerialized_forward all-gather fsdp 4 MiB x3",
                                     "rematerialized_forward all-gather fsdp 2 MiB x4", "backward reduce fsdp 4 MiB x3",
                                     "backward reduce fsdp 2 MiB x4", "backward reduce fsdp 2 KiB x2"))
        << remat;
}

// llama2's own rule norm→fsdp: the scales are gathered like any weight.
TEST(DenseLayer, ANormScaleOverFsdpIsGatheredToo) {
  ToyRun run_of = llama("fsdp=8");
  run_of.model.rules.rules = {{"norm", {"fsdp"}}};
  EXPECT_THAT(lines(run(run_of), "layers", "norm"),
              UnorderedElementsAre("forward all-gather fsdp 2 KiB x2",
                                   "rematerialized_forward all-gather fsdp 2 KiB x2", "backward reduce fsdp 2 KiB x2"));
}

TEST(DenseLayer, SeveralWeightAxesAreOneGroup) {
  EXPECT_THAT(lines(run(llama("fsdp=4,context=2")), "layers", "mlp"),
              UnorderedElementsAre("forward all-gather fsdp+context 4 MiB x3",
                                   "rematerialized_forward all-gather fsdp+context 4 MiB x3",
                                   "backward reduce fsdp+context 4 MiB x3"));
}

// Two steps: over fsdp the whole gradient, then over data the shard that is left (a quarter).
TEST(DenseLayer, DataReducesTheShardThatFsdpLeft) {
  EXPECT_THAT(
      lines(run(llama("data=2,fsdp=4")), "layers", "mlp"),
      UnorderedElementsAre("forward all-gather fsdp 4 MiB x3", "rematerialized_forward all-gather fsdp 4 MiB x3",
                           "backward reduce fsdp 4 MiB x3", "backward reduce data 1 MiB x3"));
}

TEST(DenseLayer, DataAloneReducesWholeGradients) {
  EXPECT_THAT(lines(run(llama("data=8")), "layers", "", large),
              UnorderedElementsAre("backward reduce data 4 MiB x3", "backward reduce data 2 MiB x4"));
}

TEST(DenseLayer, AccumulationRepeatsAllButTheSumsOfCopies) {
  ToyRun twice = llama("data=2,fsdp=4");
  twice.config.gradient_accumulation_steps = 2;
  const ToyStep step = run(twice);
  EXPECT_THAT(
      lines(step, "layers", "mlp"),
      UnorderedElementsAre("forward all-gather fsdp 4 MiB x6", "rematerialized_forward all-gather fsdp 4 MiB x6",
                           "backward reduce fsdp 4 MiB x6", "backward reduce data 1 MiB x6"));
  EXPECT_THAT(lines(step, "head", "logits"),
              IsSupersetOf({"forward all-gather fsdp 8 MiB x2", "backward reduce fsdp 8 MiB x2",
                            "backward reduce data 4 MiB x1"}));
}

// Hidden state [2, 1024, 1024] is 4 MiB: gathered before the projections and scattered after them; of the recomputed
// forward only the attention output has a reader, so one scatter is dropped.
TEST(DenseLayer, TensorGathersAndScattersTheHiddenState) {
  EXPECT_THAT(lines(run(llama("fsdp=4,tensor=2")), "layers"),
              IsSupersetOf({"forward all-gather tensor 4 MiB x2", "forward reduce tensor 4 MiB x2",
                            "rematerialized_forward all-gather tensor 4 MiB x2",
                            "rematerialized_forward reduce tensor 4 MiB x1", "backward all-gather tensor 4 MiB x2",
                            "backward reduce tensor 4 MiB x2"}));
}

// The weights have half their bytes, and norm statistics [2, 1024] in float32 are summed over the split embed dim.
TEST(DenseLayer, TensorHalvesTheWeightsAndReducesNormStatistics) {
  const ToyStep step = run(llama("fsdp=4,tensor=2"));
  EXPECT_THAT(lines(step, "layers", "mlp"),
              IsSupersetOf({"forward all-gather fsdp 2 MiB x3", "rematerialized_forward all-gather fsdp 2 MiB x3",
                            "backward reduce fsdp 2 MiB x3"}));
  EXPECT_THAT(lines(step, "layers", "norm"),
              IsSupersetOf({"forward reduce tensor 8 KiB x2", "rematerialized_forward reduce tensor 8 KiB x2",
                            "backward reduce tensor 8 KiB x2"}));
}

// XLA:GPU: 3 forward, 6 recomputed and 4 backward gathers of the hidden state where XLA:TPU has 2, 2 and 2.
TEST(DenseLayer, TensorOnGpuGathersAgainForEachConsumer) {
  ToyRun gpu = llama("fsdp=4,tensor=2");
  gpu.compiler.habits.add(Habit::gathers_activations_per_consumer);
  std::map<Phase, std::int64_t> gathers;
  const ToyStep step = run(gpu);
  for (const auto& c : step.collectives)
    if (c.op.starts_with("layers/") && c.kind == CollectiveKind::all_gather &&
        names(c.axes, step.mesh, "+") == "tensor")
      gathers[c.phase] += c.executions / step.layers.at("layers");
  EXPECT_EQ(gathers, (std::map<Phase, std::int64_t>{
                         {Phase::forward, 3}, {Phase::rematerialized_forward, 6}, {Phase::backward, 4}}));
}

// Keys and values [2, 1024, 8, 128] are 4 MiB each once they are whole along the sequence.
TEST(DenseLayer, ContextGathersKeysAndValuesAndReducesTheirGradients) {
  EXPECT_THAT(
      lines(run(llama("fsdp=4,context=2")), "layers", "attention_op"),
      UnorderedElementsAre("forward all-gather context 4 MiB x2", "rematerialized_forward all-gather context 4 MiB x2",
                           "backward reduce context 4 MiB x2"));
}

// A device's part of keys, as of values, [2, 512, 8, 128], is half of what it would gather: 2 MiB. Round a ring of 2 it goes
// twice in each pass; its float32 gradient once, and once more as it is summed.
TEST(DenseLayer, KeysGoRoundARing) {
  ToyRun ring = llama("fsdp=4,context=2");
  ring.config.context_parallel_strategy = ContextStrategy::ring;
  ring.config.use_tokamax_splash = true;
  EXPECT_THAT(lines(run(ring), "layers", "attention_op"),
              UnorderedElementsAre("forward collective-permute context 2 MiB x4",
                                   "rematerialized_forward collective-permute context 2 MiB x4",
                                   "backward collective-permute context 2 MiB x6",
                                   "backward collective-permute context 4 MiB x2"));
}

// Queries, keys and values are exchanged for half of their heads, what the kernel writes for half of the sequence; backward
// their gradients likewise. What a policy keeps of the kernel is still in heads.
TEST(DenseLayer, SequencesAreExchangedForHeads) {
  ToyRun ulysses = llama("fsdp=4,context=2");
  ulysses.config.context_parallel_strategy = ContextStrategy::ulysses;
  ulysses.config.use_tokamax_splash = true;
  const auto exchanged =
      UnorderedElementsAre("forward all-to-all context 2 MiB x4", "rematerialized_forward all-to-all context 2 MiB x4",
                           "backward all-to-all context 2 MiB x4");
  EXPECT_THAT(lines(run(ulysses), "layers", "attention_op"), exchanged);
  ulysses.config.saved = {{"context", SavePlace::device}};
  EXPECT_THAT(lines(run(ulysses), "layers", "attention_op"), exchanged);
}

// A custom rule set without activation_input_length_attn leaves the attention input's sequence whole. Forward the
// queries slice it again, so no gather is left; the weight gradients do need it (recorded: mixtral under cp-as-ep and
// ep-as-cp). One sequence of values, gathered, is as large as their weight, 1024 x 8 x 128; two would be larger, so the
// input is sliced and partial sums are reduced over context too.
TEST(DenseLayer, RulesWithoutAnInputLengthGatherTheAttentionInputForTheGradients) {
  ToyRun custom = llama("fsdp=4,context=2");
  EXPECT_THAT(lines(run(custom), "layers", "self_attention/value"), Not(Contains(HasSubstr("all-gather context"))));
  custom.rules = "cp-as-ep";
  EXPECT_THAT(
      lines(run(custom), "layers", "self_attention/value"),
      AllOf(Contains("backward reduce fsdp+context 2 MiB x1"), Not(Contains(HasSubstr("forward all-gather context")))));
  custom.config = toy_config(0.5, 1024);
  EXPECT_THAT(
      lines(run(custom), "layers", "self_attention/value"),
      IsSupersetOf({"rematerialized_forward all-gather context 2 MiB x1", "backward all-gather context 2 MiB x2"}));
  EXPECT_THAT(lines(run(custom), "layers", "self_attention"), Not(Contains("forward all-gather context 2 MiB x3")));
}

// XLA:GPU outside shard_map: query, key and value (16 MiB whole) are gathered over every axis that splits them, and the
// mask [8, 1024, 1024] with them.
TEST(DenseLayer, AttentionOutsideShardMapGathersItsOperands) {
  ToyRun gpu = llama("fsdp=8");
  gpu.compiler.habits.add(Habit::attention_outside_shard_map);
  gpu.config.attention = AttentionKernel::flash;
  EXPECT_THAT(lines(run(gpu), "layers", "attention_op"),
              IsSupersetOf({"forward all-gather fsdp 16 MiB x3", "forward all-gather fsdp 8 MiB x1"}));
  gpu.config.attention = AttentionKernel::dot_product;
  EXPECT_THAT(lines(run(gpu), "layers", "attention_op"), IsEmpty());
}

// Token ids [8, 1024] go to every device, the looked-up columns (2 MiB) come back by an all-to-all, and the gradient
// takes the same way; the table itself stays.
TEST(Edges, EmbeddingExchangesTokensAndGathersNoTable) {
  EXPECT_THAT(lines(run(llama("fsdp=8")), "embedding"),
              UnorderedElementsAre("forward all-gather fsdp 32 KiB x1", "forward all-to-all fsdp 2 MiB x1",
                                   "backward all-to-all fsdp 2 MiB x1"));
}

TEST(Edges, IotaEmbeddingGathersTheTableAndReducesItsGradient) {
  ToyRun iota = llama("fsdp=8");
  iota.config.use_iota_embed = true;
  EXPECT_THAT(lines(run(iota), "embedding", "", large),
              UnorderedElementsAre("forward all-gather fsdp 8 MiB x1", "backward reduce fsdp 8 MiB x1"));
}

// Words over tensor: each device multiplies its own [512, 1024] with one-hot ids of all 8192 tokens, 16 MiB of sums.
TEST(Edges, IotaEmbeddingOfSplitWordsSumsRows) {
  ToyRun iota = llama("tensor=8");
  iota.config.use_iota_embed = true;
  EXPECT_THAT(lines(run(iota), "embedding", "", large),
              UnorderedElementsAre("forward reduce tensor 16 MiB x1", "backward all-gather tensor 16 MiB x1"));
}

TEST(Edges, HeadIsGatheredOnceForForwardAndBackward) {
  EXPECT_THAT(lines(run(llama("fsdp=8")), "head"),
              UnorderedElementsAre("forward all-gather fsdp 8 MiB x1", "backward reduce fsdp 8 MiB x1",
                                   "backward reduce fsdp 2 KiB x1"));
}

// The tied table [vocab, embed] serves as head: as many bytes gathered and reduced as the untied one.
TEST(Edges, TiedEmbeddingIsGatheredForTheHeadOnly) {
  ToyRun tied = llama("fsdp=8");
  tied.model.tied_embedding = true;
  EXPECT_THAT(lines(run(tied), "head", "", large),
              UnorderedElementsAre("forward all-gather fsdp 8 MiB x1", "backward reduce fsdp 8 MiB x1"));
  EXPECT_THAT(lines(run(tied), "embedding"), Contains("forward all-to-all fsdp 2 MiB x1"));
}

// A local and a global layer are recomputed together: the local one's weights are gathered once more for its gradients.
TEST(Dense, LayersOfOneScanIterationGatherAgain) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=4"};
  toy.model.attention_pattern = {256, 1};  // 2 local, 2 global, 4 MiB each
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "layers_local/mlp/wi_0"), 2 * 3 * 4);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "layers_global/mlp/wi_0"), 2 * 2 * 4);
  toy.model.attention_pattern = {256, 3};  // three local ones in an iteration
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "layers_local/mlp/wi_0"), 3 * 3 * 4);
  toy.config.scan_layers = false;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "layers_local/mlp/wi_0"), 3 * 2 * 4);
}

// A norm over all heads sums squares over the axes that split them: a float32 for each of 2 · 1024 tokens.
TEST(DenseLayer, SumsTheStatisticsOfANormOverAllHeads) {
  Model olmo = toy_llama();
  olmo.use_qk_norm = true;
  const auto norm_lines = [&] {
    return lines(run({.model = olmo, .config = toy_config(1, 1024), .mesh = "tensor=2"}), "layers",
                 "self_attention/query_norm", Bytes{8 * 1024});
  };
  EXPECT_THAT(norm_lines(), testing::Not(testing::Contains("forward reduce tensor 8 KiB x1")));
  olmo.qk_norm_over_all_heads = true;
  EXPECT_THAT(norm_lines(), testing::Contains("forward reduce tensor 8 KiB x1"));
}

}  // namespace
}  // namespace shardplan
