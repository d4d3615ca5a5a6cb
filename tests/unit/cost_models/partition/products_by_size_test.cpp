// Where each product is laid out by the size of its tensors. Features that tensor parallelism splits: a toy layer on
// fsdp=2,tensor=2 reads 4 sequences of 1024 tokens and 1024 features: 4 Mi elements, a device's two sequences whole 4 MiB.
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

Compiler by_size() {
  return with(with(plain_compiler(), Habit::lays_out_products_by_size), Habit::permutes_before_gathers);
}

ToyRun grouped(std::int64_t kv_heads, const char* mesh = "fsdp=2,tensor=2") {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh, by_size()};
  toy.model.kv_heads = kv_heads;
  return toy;
}

constexpr auto all_reduce = CollectiveKind::all_reduce, reduce_scatter = CollectiveKind::reduce_scatter,
               all_gather = CollectiveKind::all_gather, all_to_all = CollectiveKind::all_to_all,
               permute = CollectiveKind::collective_permute;

// 4 heads of 128: results of 2 Mi elements and a weight of 0.5 Mi are less than the input; of 8 heads 4 Mi and 1 Mi aren't.
// The sum of [2, 1024, 4, 128] is 2 MiB; a device keeps two heads of four: all-reduced. Of two it keeps one: scattered. 4
// layers, forward and recomputed.
TEST(ProductsBySize, KeysOfFewHeadsAreContracted) {
  EXPECT_EQ(mebibytes(run(grouped(4)), all_reduce, "tensor", "self_attention/key"), 8 * 2);
  EXPECT_EQ(mebibytes(run(grouped(2)), reduce_scatter, "tensor", "self_attention/key"), 8 * 1);
  EXPECT_EQ(mebibytes(run(grouped(8)), all_reduce, "tensor", "self_attention/key"), 0);
  ToyRun shared = grouped(4);
  shared.compiler = plain_compiler();
  EXPECT_EQ(mebibytes(run(shared), all_reduce, "tensor", "self_attention/key"), 0);
}

// The weight [1024, 4, 128] is 1 MiB: a shard of four, 256 KiB, changes places (forward, recomputed, its gradient: 12
// times), then [512, 4, 128] is gathered over fsdp as it would be for the heads.
TEST(ProductsBySize, TheirWeightsArePermuted) {
  const ToyStep step = run(grouped(4));
  EXPECT_EQ(mebibytes(step, permute, "fsdp+tensor", "self_attention/key"), 12 / 4);
  EXPECT_EQ(mebibytes(step, all_to_all, "tensor", "self_attention/key"), 0);
  EXPECT_EQ(mebibytes(step, all_gather, "fsdp", "self_attention/key"), 8 / 2);
}

// The gradient of [2, 1024, 1024], 4 MiB in each of 4 layers: of key and value together a sum where fsdp splits their
// weights more finely than tensor does, beside that of the query; else only the query's is a sum.
TEST(ProductsBySize, GradientsOfTheirInputAreSummedApart) {
  const auto sums = [](const char* mesh) {
    return mebibytes(run(grouped(4, mesh)), reduce_scatter, "tensor", "self_attention");
  };
  constexpr std::int64_t output = 2 * 4 * 4;  // of attention, forward and recomputed
  EXPECT_EQ(sums("fsdp=2,tensor=2"), output + 4 * 4);
  EXPECT_EQ(sums("fsdp=4,tensor=2"), output + 2 * 4 * 4);
}

ToyRun stolen(const char* remat = "full") {
  const Compiler compiler = with(by_size(), Habit::sums_shards_and_copies_at_once);
  return {toy_mixtral(), toy_moe(toy_config(1, 1024, remat), MoePath::dropping), "default", "fsdp=2,expert=2", compiler};
}

// Experts' weights [8, 512, 1024], 8 MiB: split over expert and fsdp, read whole. Gathered over both at once forward, one
// after the other where experts are recomputed; the gradient of both dims' shards is one sum. 4 layers.
TEST(ProductsBySize, StolenExpertsAreGatheredAtOnceAndSummedWhole) {
  const ToyStep step = run(stolen());
  EXPECT_EQ(mebibytes(step, all_gather, "fsdp+expert", "wi_0"), 4 * 8);
  EXPECT_EQ(mebibytes(step, all_gather, "fsdp", "wi_0"), 4 * 4);
  EXPECT_EQ(mebibytes(step, all_gather, "expert", "wi_0"), 4 * 8);
  EXPECT_EQ(mebibytes(step, all_reduce, "fsdp+expert", "wi_0"), 4 * 8);
  const ToyStep saved = run(stolen("minimal_with_context"));
  EXPECT_EQ(mebibytes(saved, all_gather, "fsdp+expert", "wi_0"), 2 * 4 * 8);
  EXPECT_EQ(mebibytes(saved, all_gather, "expert", "wi_0"), 0);
}

// For each token of 256 rows of all experts have 2 * 1.25 * 512 = 1280 features; token and mask (8 experts times 80 slots)
// have 512 + 640: tokens are gathered, [2, 256, 512] or 512 KiB twice in each of 4 layers, not exchanged. At a capacity of 1
// both have 1024: the tie stays with the tokens.
TEST(ProductsBySize, ADispatchGathersTokensThatAreLessThanTheirRows) {
  const auto gathered = [](double capacity, const Compiler& compiler) {
    ToyRun fix = stolen();
    fix.compiler = compiler;
    fix.config.max_target_length = 256;
    fix.config.capacity_factor = capacity;
    fix.config.moe_dispatch_no_expert_sharding = true;
    return mebibytes(run(fix), all_gather, "expert", "dispatch");
  };
  EXPECT_EQ(gathered(1.25, by_size()), 8 / 2);
  EXPECT_EQ(gathered(1, by_size()), 0);
  EXPECT_EQ(gathered(1.25, plain_compiler()), 0);
}

/// Gathers of the feed-forward's input in the backward pass.
std::int64_t input_gathers(const Model& model, const Compiler& compiler) {
  std::int64_t count = 0;
  for (const auto& c : run({model, toy_config(1, 1024), "default", "fsdp=2,tensor=2", compiler}).collectives)
    if (c.phase == Phase::rematerialized_forward && c.kind == all_gather && !c.parameter &&
        c.op.find("mlp/wi") != std::string::npos)
      count += c.executions;
  return count;
}

// Six layers recompute with a gathered input; late weight gradients gather it again where two layers are one iteration.
TEST(ProductsBySize, LateWeightGradientsGatherAgainWhereAnIterationHasSeveralLayers) {
  const Compiler late = with(plain_compiler(), Habit::runs_weight_gradients_beside_collectives);
  Model model = toy_llama();
  model.layers = 6;
  EXPECT_EQ(input_gathers(model, late), 6);
  model.attention_pattern = {256, 1};
  EXPECT_EQ(input_gathers(model, plain_compiler()), 6);
  EXPECT_EQ(input_gathers(model, late), 12);
}

}  // namespace
}  // namespace shardplan
