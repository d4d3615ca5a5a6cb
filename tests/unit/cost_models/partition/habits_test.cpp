// What depends on the compiler's habits, and the cases that only some meshes meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

std::int64_t executions(const ToyRun& toy, Phase phase, CollectiveKind kind, const std::string& part) {
  std::int64_t count = 0;
  for (const auto& c : run(toy).collectives)
    if (c.phase == phase && c.kind == kind && c.op.find(part) != std::string::npos) count += c.executions;
  return count;
}

// Columns over context become parts of the sequence of all of data's rows, [4, 1024, 512] forward, [4, 512, 1024] backward.
TEST(Habits, RowsOfABatchThatDataSplitsAreGatheredForASequenceThatContextDoes) {
  const ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "data=2,context=2",
                   with(plain_compiler(), Habit::gathers_rows_over_other_axes)};
  EXPECT_THAT(lines(run(toy), "embedding", "token_embedder", Bytes{1 << 20}),
              ::testing::IsSupersetOf({"forward all-gather data 4 MiB x1", "forward all-to-all context 2 MiB x1",
                                       "backward all-gather data 4 MiB x1", "backward all-to-all context 4 MiB x1"}));
}

struct ConsumerRow {
  const char* mesh;
  bool per_consumer;
  std::int64_t forward, recomputed, backward;
  int length = 1024;
};

// Recorded: XLA:TPU gathers tensor-parallel activations 2, 2 and 2 times a layer; XLA:GPU 3, 3 and 2 times where products
// gather them before anything else, 3, 6 and 4 times where these are grouped by another axis first: those of more tokens
// than the weight has columns.
TEST(Habits, ActivationsAreGatheredOnceOrForEachConsumer) {
  for (const auto& row : {ConsumerRow{"tensor=4", false, 2, 2, 2}, ConsumerRow{"tensor=4", true, 3, 3, 2},
                          ConsumerRow{"fsdp=2,tensor=4", true, 3, 6, 4}, ConsumerRow{"data=2,tensor=4", true, 3, 6, 4},
                          ConsumerRow{"data=2,tensor=4", true, 3, 3, 2, 32},
                          ConsumerRow{"fsdp=2,tensor=4", false, 2, 2, 2}}) {
    ToyRun toy{toy_llama(), toy_config(2, row.length), "default", row.mesh};
    if (row.per_consumer) toy.compiler.habits.add(Habit::gathers_activations_per_consumer);
    const ToyStep step = run(toy);
    const auto gathers = [&](Phase phase) {
      std::int64_t count = 0;
      for (const auto& c : step.collectives)
        if (c.phase == phase && c.kind == CollectiveKind::all_gather && names(c.axes, step.mesh, "+") == "tensor" &&
            c.op.starts_with("layers/"))
          count += c.executions;
      return count / 4;
    };
    EXPECT_EQ(gathers(Phase::forward), row.forward) << row.mesh;
    EXPECT_EQ(gathers(Phase::rematerialized_forward), row.recomputed) << row.mesh;
    EXPECT_EQ(gathers(Phase::backward), row.backward) << row.mesh;
  }
}

// The head [1024, 4096] over tensor=2: 2,048 words a device. Its product with 4,096 tokens gathers it as the gradient
// of these does; that of 1,024 tokens inside groups of tensor, and their gradient gathers it again.
TEST(Habits, AHeadOfMoreWordsThanTokensIsGatheredTwice) {
  for (const auto& [length, times] : {std::pair{1024, 1}, std::pair{256, 2}}) {
    ToyRun toy{toy_llama(), toy_config(2, length), "default", "fsdp=4,tensor=2"};
    toy.compiler.habits.add(Habit::gathers_activations_per_consumer);
    const ToyStep step = run(toy);
    std::int64_t gathers = 0;
    for (const auto& c : step.collectives)
      if (c.kind == CollectiveKind::all_gather && names(c.axes, step.mesh, "+") == "fsdp" && c.op.starts_with("head/"))
        gathers += c.executions;
    EXPECT_EQ(gathers, times) << length;
  }
}

// wi_0 [1024, 2048], 4 MiB a layer, mlp over both axes: 1 MiB a device. Gathered over fsdp_transpose in two passes.
TEST(Habits, AGradientWhoseDimOthersSplitIsSummedWhole) {
  const auto moved = [](bool whole, CollectiveKind kind, const char* axes) {
    ToyRun toy{toy_llama(), toy_config(2, 1024), "default", "fsdp_transpose=2,tensor=2"};
    if (!whole) toy.compiler.habits.remove(Habit::sums_unmatched_shards_whole);
    if (whole) toy.compiler.habits.add(Habit::orders_shards_before_gathers);
    return mebibytes(run(toy), kind, axes, "mlp/wi_0");
  };
  EXPECT_EQ(moved(false, CollectiveKind::reduce_scatter, "fsdp_transpose"), 4 * 2);
  EXPECT_EQ(moved(true, CollectiveKind::reduce_scatter, "fsdp_transpose"), 0);
  EXPECT_EQ(moved(true, CollectiveKind::all_reduce, "fsdp_transpose"), 4 * 4);
  EXPECT_EQ(moved(false, CollectiveKind::collective_permute, "fsdp_transpose+tensor"), 0);
  EXPECT_EQ(moved(true, CollectiveKind::collective_permute, "fsdp_transpose+tensor"), 4 * 2);
}

// wi_0 [1024, 2048] in bf16 is 4 MiB, once a layer. The whole of a slice that is large enough all-reduces it.
TEST(Habits, AWholeSliceAllReducesTheGradientsThatAPartOfItScatters) {
  struct Sum {
    const char* mesh;
    std::int64_t from_devices, all_reduced, scattered;
  };
  for (const auto& [mesh, from_devices, all_reduced, scattered] :
       {Sum{"fsdp=8", 8, 16, 0}, Sum{"fsdp=8", 16, 0, 16}, Sum{"fsdp=4", 8, 0, 16}, Sum{"fsdp=4,tensor=2", 8, 0, 8}}) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh,
               with(plain_compiler(), Habit::all_reduces_over_whole_slices)};
    toy.compiler.slice_sizes[Habit::all_reduces_over_whole_slices] = {from_devices, {}};
    const ToyStep step = run(toy);
    EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "mlp/wi_0"), all_reduced) << mesh;
    EXPECT_EQ(mebibytes(step, CollectiveKind::reduce_scatter, "fsdp", "mlp/wi_0"), scattered) << mesh;
  }
}

// Eight sequences of 1024 tokens of 1024 features in bf16: 16 MiB, summed forward and recomputed in 4 layers.
TEST(Habits, AWholeSliceAllReducesTheActivationsThatAPartOfItScatters) {
  const auto summed = [](const char* mesh, std::int64_t from_devices, CollectiveKind kind) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh,
               with(plain_compiler(), Habit::all_reduces_over_whole_slices)};
    toy.compiler.slice_sizes[Habit::all_reduces_over_whole_slices] = {from_devices, {}};
    return mebibytes(run(toy), kind, "tensor", "self_attention/out");
  };
  EXPECT_EQ(summed("tensor=8", 8, CollectiveKind::all_reduce), 8 * 16);
  EXPECT_EQ(summed("tensor=8", 8, CollectiveKind::reduce_scatter), 0);
  EXPECT_EQ(summed("tensor=8", 16, CollectiveKind::reduce_scatter), 8 * 16);
  EXPECT_EQ(summed("tensor=4,fsdp=2", 8, CollectiveKind::reduce_scatter), 8 * 8);
}

// Of 1024 features 8 devices keep a tile of 128 each, 4 two, 16 half of one.
TEST(Habits, SumsOfActivationsAreScatteredInEvenNumbersOfTiles) {
  const auto scattered = [](const char* mesh) {
    const ToyStep step = run({toy_llama(), toy_config(1, 1024), "default", mesh,
                              with(plain_compiler(), Habit::scatters_even_tiles_of_activations)});
    const auto bytes = [&](CollectiveKind kind) { return mebibytes(step, kind, "tensor", "self_attention/out"); };
    EXPECT_GT(bytes(CollectiveKind::reduce_scatter) + bytes(CollectiveKind::all_reduce), 0) << mesh;
    return bytes(CollectiveKind::all_reduce) == 0;
  };
  EXPECT_FALSE(scattered("tensor=8"));
  EXPECT_FALSE(scattered("tensor=8,fsdp=2"));
  EXPECT_TRUE(scattered("tensor=4"));
  EXPECT_TRUE(scattered("tensor=16"));
}

// A ring's sums, and looked-up rows, go to places of tokens, which no spec of a tensor says.
TEST(Habits, SumsThatGoToNoFeaturesAreScattered) {
  Collective sum;
  sum.kind = CollectiveKind::reduce_scatter;
  sum.axes = {0};
  sum.block = sum.tensor = 0;
  const Compiler even = with(plain_compiler(), Habit::scatters_even_tiles_of_activations);
  EXPECT_EQ(as_emitted({sum}, Program{}, parse_mesh("fsdp=8", {"fsdp"}), even).front().kind,
            CollectiveKind::reduce_scatter);
}

// The same where there are two slices of 8: fsdp within each of them, over both of them, and over half of each. Shards of
// 0.5 MiB are summed between them.
TEST(Habits, EachOfSeveralSlicesAllReducesWhatIsSummedOverAllOfIt) {
  struct Sum {
    const char *mesh, *between;
    std::int64_t all_reduced, scattered, over_data;
  };
  for (const auto& [mesh, between, all_reduced, scattered, over_data] :
       {Sum{"data=2,fsdp=8", "data=2", 16, 0, 2}, Sum{"fsdp=16", "fsdp=2", 16, 0, 0},
        Sum{"data=2,fsdp=8", "fsdp=2", 0, 16, 2}}) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh,
               with(plain_compiler(), Habit::all_reduces_over_whole_slices), between};
    toy.compiler.slice_sizes[Habit::all_reduces_over_whole_slices] = {8, {}};
    const ToyStep step = run(toy);
    EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "mlp/wi_0"), all_reduced) << mesh << between;
    EXPECT_EQ(mebibytes(step, CollectiveKind::reduce_scatter, "fsdp", "mlp/wi_0"), scattered) << mesh << between;
    EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "data", "mlp/wi_0"), over_data) << mesh << between;
  }
}

// wi_0 [1024, 2048] in bf16 is 4 MiB, gathered forward and backward in 4 layers; an all-reduce of as much stands for it
// where the group is the whole of a slice of 8.
TEST(Habits, SomeWholeSlicesGatherByAllReduce) {
  const auto gathered = [](const char* mesh, std::int64_t of_devices) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh,
               with(plain_compiler(), Habit::gathers_whole_slices_by_all_reduce)};
    toy.compiler.slice_sizes[Habit::gathers_whole_slices_by_all_reduce] = {1, {of_devices}};
    const ToyStep step = run(toy);
    return std::vector{mebibytes(step, CollectiveKind::all_gather, "fsdp", "mlp/wi_0"),
                       mebibytes(step, CollectiveKind::all_reduce, "fsdp", "mlp/wi_0")};
  };
  EXPECT_THAT(gathered("fsdp=8", 8), testing::ElementsAre(0, 32));
  EXPECT_THAT(gathered("fsdp=8", 16), testing::ElementsAre(32, 0));
  EXPECT_THAT(gathered("fsdp=4,data=2", 8), testing::ElementsAre(32, 0));
}

TEST(Habits, WholeSlicesGatherIdsAndWeightsOfRoutingByAllReduceWhereNothingLimitsTheirSize) {
  const auto emitted = [](std::optional<Bytes> up_to) {
    Compiler compiler = with(plain_compiler(), Habit::gathers_whole_slices_by_all_reduce);
    compiler.slice_sizes[Habit::gathers_whole_slices_by_all_reduce] = {1, {8}, up_to};
    Collective gather;
    gather.kind = CollectiveKind::all_gather;
    gather.axes = {0};
    gather.bytes = Bytes{1 << 20};
    gather.cause = Cause::expert_ids;
    return as_emitted({gather}, Program{}, parse_mesh("fsdp=8", {"fsdp"}), compiler).front().kind;
  };
  EXPECT_EQ(emitted(std::nullopt), CollectiveKind::all_reduce);
  EXPECT_EQ(emitted(Bytes{2 << 20}), CollectiveKind::all_gather) << "a limit is one of weights and token ids";
}

// [embed, mlp] over the two axes of a slice of 8; an axis of 2 is the devices of a chip.
TEST(Habits, OuterHalvesOfATensorAreGatheredByAllReduce) {
  const auto emitted = [](const char* mesh, AxisList embed, AxisList mlp) {
    Compiler compiler = with(plain_compiler(), Habit::gathers_outer_halves_by_all_reduce);
    compiler.slice_sizes[Habit::gathers_outer_halves_by_all_reduce] = {1, {8}};
    Collective gather;
    gather.axes = {0, 1};
    gather.from.spec.dims = {embed, mlp};
    return as_emitted({gather}, Program{}, parse_mesh(mesh, {"fsdp", "fsdp_transpose"}), compiler).front().kind;
  };
  EXPECT_EQ(emitted("fsdp=2,fsdp_transpose=4", {0}, {1}), CollectiveKind::all_reduce);
  EXPECT_EQ(emitted("fsdp=2,fsdp_transpose=4", {0, 1}, {}), CollectiveKind::all_reduce);
  EXPECT_EQ(emitted("fsdp=2,fsdp_transpose=4", {1}, {0}), CollectiveKind::all_gather) << "neighbours";
  EXPECT_EQ(emitted("fsdp=4,fsdp_transpose=2", {0}, {1}), CollectiveKind::all_gather);
  EXPECT_EQ(emitted("fsdp=4,fsdp_transpose=2", {1}, {0}), CollectiveKind::all_reduce);
  EXPECT_EQ(emitted("fsdp=4,fsdp_transpose=4", {0}, {1}), CollectiveKind::all_gather) << "of 16 nothing is known";
}

// Query and wi_0 are 2 and 4 MiB, gathered forward and backward in 4 layers.
TEST(Habits, SomeWholeSlicesGatherSmallTensorsByAllReduce) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=8",
             with(plain_compiler(), Habit::gathers_whole_slices_by_all_reduce)};
  toy.compiler.slice_sizes[Habit::gathers_whole_slices_by_all_reduce] = {1, {8}, Bytes{2 << 20}};
  const ToyStep step = run(toy);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "self_attention/query"), 4 * 2 * 2);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_gather, "fsdp", "mlp/wi_0"), 4 * 2 * 4);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "mlp/wi_0"), 0);
}

// wi_0 [1024, 2048] in bf16 is 4 MiB, of 4 layers: the shards' sum and that of their copies, or one of both.
TEST(Habits, ShardsAndCopiesOfAGradientMayBeSummedAtOnce) {
  const auto sums = [](const Compiler& compiler, const std::string& axes) {
    const ToyStep step = run(ToyRun{toy_llama(), toy_config(1, 1024), "default", "data=2,fsdp=4", compiler});
    return mebibytes(step, CollectiveKind::all_reduce, axes, "mlp/wi_0") +
           mebibytes(step, CollectiveKind::reduce_scatter, axes, "mlp/wi_0");
  };
  const Compiler at_once = with(plain_compiler(), Habit::sums_shards_and_copies_at_once);
  EXPECT_EQ(sums(plain_compiler(), "fsdp"), 4 * 4);
  EXPECT_EQ(sums(plain_compiler(), "data"), 4);
  EXPECT_EQ(sums(at_once, "data+fsdp"), 4 * 4);
  EXPECT_EQ(sums(at_once, "fsdp") + sums(at_once, "data"), 0);
}

// Of fsdp and fsdp_transpose each splits a dim of wi_0, 4 MiB in bf16, of 4 layers: shards, or all of it.
TEST(Habits, GradientsOfSeveralSplitDimsMayBeSummedWhole) {
  const auto sums = [](const Compiler& compiler, CollectiveKind kind) {
    const ToyStep step = run(ToyRun{toy_llama(), toy_config(1, 1024), "default", "fsdp=2,fsdp_transpose=4", compiler});
    return mebibytes(step, kind, "fsdp+fsdp_transpose", "mlp/wi_0");
  };
  const Compiler at_once = with(plain_compiler(), Habit::sums_over_several_dims_at_once);
  EXPECT_EQ(sums(at_once, CollectiveKind::all_reduce), 4 * 4);
  EXPECT_EQ(sums(plain_compiler(), CollectiveKind::all_reduce), 0);
}

// Beside data=2: all of it over the shards, and its eighth over the copies.
TEST(Habits, CopiesOfAGradientOfSeveralSplitDimsMaySumSlices) {
  const auto sums = [](const Compiler& compiler, const char* axes) {
    const char* mesh = "data=2,fsdp=2,fsdp_transpose=4";
    const ToyStep step = run(ToyRun{toy_llama(), toy_config(1, 1024), "default", mesh, compiler});
    return mebibytes(step, CollectiveKind::all_reduce, axes, "mlp/wi_0");
  };
  const Compiler at_once = with(plain_compiler(), Habit::sums_over_several_dims_at_once);
  const Compiler split = with(at_once, Habit::splits_sliced_sums);
  EXPECT_EQ(sums(split, "fsdp+fsdp_transpose"), 4 * 4);
  EXPECT_EQ(sums(split, "data"), 4 * 4 / 8);
}

// wi_0 [1024, 2048] is 8 MiB in float32, gathered forward and backward in 4 layers; its gradient stays what it is.
TEST(Habits, WeightsOfFloat32ProductsMayBeGatheredInBf16) {
  const auto moved = [](const Compiler& compiler, CollectiveKind kind) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=4", compiler};
    toy.config.dtype = DType::f32;
    return mebibytes(run(toy), kind, "fsdp", "mlp/wi_0");
  };
  const Compiler narrowing = with(plain_compiler(), Habit::narrows_float32_operands);
  EXPECT_EQ(moved(plain_compiler(), CollectiveKind::all_gather), 2 * 4 * 8);
  EXPECT_EQ(moved(narrowing, CollectiveKind::all_gather), 2 * 4 * 4);
  EXPECT_EQ(moved(narrowing, CollectiveKind::reduce_scatter), moved(plain_compiler(), CollectiveKind::reduce_scatter));
}

// The head's weight [1024, 4096] is 8 MiB in bf16, 16 in float32.
TEST(Head, OfFloat32ProductsMovesFloat32ButForWeightsThatTheCompilerNarrows) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=4"};
  toy.config.logits_dot_in_fp32 = true;
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "fsdp", "logits_dense"), 16);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "logits_dense"), 16);
  toy.compiler = with(plain_compiler(), Habit::narrows_float32_operands);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::reduce_scatter, "fsdp", "logits_dense"), 16);
  EXPECT_EQ(mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "logits_dense"), 8);
}

// Up to 44 tiles in a group's pieces: of 4 devices [1024, 4224] of 33 = 3 * 11 tiles of 128 lanes is reduce-scattered,
// [1024, 4352] of 34 = 2 * 17 all-reduced, over part of the mesh too; of 2 devices both are scattered.
TEST(Head, WhoseWordsCantBeTakenInPiecesIsAllReduced) {
  Compiler compiler = with(plain_compiler(), Habit::all_reduces_indivisible_words);
  compiler.largest_words_piece = 44;
  const auto scattered = [&](std::int64_t words, const char* mesh) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh, compiler};
    toy.model.vocab = words;
    const ToyStep step = run(toy);
    const auto bytes = [&](CollectiveKind kind) { return mebibytes(step, kind, "fsdp", "logits_dense"); };
    EXPECT_EQ(bytes(CollectiveKind::reduce_scatter) + bytes(CollectiveKind::all_reduce), 8);
    return bytes(CollectiveKind::reduce_scatter) > 0;
  };
  for (const char* mesh : {"fsdp=4", "data=2,fsdp=4"}) {
    EXPECT_TRUE(scattered(4224, mesh)) << mesh;
    EXPECT_FALSE(scattered(4352, mesh)) << mesh;
  }
  EXPECT_TRUE(scattered(4352, "fsdp=2"));
}

// The hidden state, 4 MiB on a device, becomes tiles of which each device has a part, and comes back; of fewer tiles than
// devices the parts are put in order.
TEST(VocabularyTiles, ExchangeTheHiddenState) {
  ToyRun toy{toy_llama(), toy_config(2, 1024), "default", "data=2,fsdp=4"};
  const auto moved = [&](CollectiveKind kind) { return mebibytes(run(toy), kind, "data+fsdp", "head/"); };
  for (const auto& [tiles, exchanged, in_order] : {std::tuple{1, 0, 0}, {8, 2 * 4, 0}, {4, 2 * 4, 2 * 4}}) {
    toy.config.num_vocab_tiling = tiles;
    EXPECT_EQ(moved(CollectiveKind::all_to_all), exchanged) << tiles;
    EXPECT_EQ(moved(CollectiveKind::collective_permute), in_order) << tiles;
  }
}

// Four tiles: the head is gathered for forward and backward once each, or for each tile (ag_once: once, and not again),
// reduced for each tile (ag_once: once, whole and in the type that it is stored in).
TEST(VocabularyTiles, GatherTheHeadOnceAPassOrATileAndReduceItForEachTile) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=8"};
  toy.config.num_vocab_tiling = 4;
  const auto gathers = [&](Phase phase) { return executions(toy, phase, CollectiveKind::all_gather, "logits_dense"); };
  EXPECT_EQ(gathers(Phase::forward), 1);
  EXPECT_EQ(gathers(Phase::rematerialized_forward), 1);
  EXPECT_EQ(executions(toy, Phase::backward, CollectiveKind::reduce_scatter, "logits_dense"), 4);
  toy.compiler.habits.add(Habit::gathers_for_each_tile);
  EXPECT_EQ(gathers(Phase::forward), 4);
  EXPECT_EQ(gathers(Phase::rematerialized_forward), 4);
  EXPECT_EQ(executions(toy, Phase::backward, CollectiveKind::reduce_scatter, "logits_dense"), 4);
  toy.config.vocab_tiling_ag_once = true;
  EXPECT_EQ(gathers(Phase::forward), 1);
  EXPECT_EQ(gathers(Phase::rematerialized_forward), 0);
  EXPECT_EQ(executions(toy, Phase::backward, CollectiveKind::reduce_scatter, "logits_dense"), 0);
  EXPECT_EQ(executions(toy, Phase::backward, CollectiveKind::all_reduce, "logits_dense"), 1);
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

}  // namespace
}  // namespace shardplan
