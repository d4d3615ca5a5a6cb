// Experts on the dropping path: what their backward pass leaves to its end.
#include <gmock/gmock.h>

#include <cost_models/memory/moments.hpp>
#include <cost_models/memory/saved_value.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

ToyMemory dropping(std::int64_t sequences, const char* mesh, const Compiler& compiler, const char* remat = "full") {
  return ToyMemory({toy_mixtral(), toy_moe(toy_config(static_cast<double>(sequences), 1024, remat), MoePath::dropping),
                    "default", mesh, compiler});
}

const Lifetime& life_of(const ToyMemory& toy, const std::string& words) {
  const PartitionedBlock& layer = toy.block("layers");
  const Lifetime* found = nullptr;
  for (const Lifetime& life : layer.lifetimes)
    if (describe(life.name, *layer.block) == words) found = &life;
  if (!found) throw std::runtime_error("no buffer " + words);
  return *found;
}

int end_of(const ToyMemory& toy) {
  int end = 0;
  for (const Lifetime& life : toy.block("layers").lifetimes) end = std::max(end, life.last);
  return end;
}

Compiler leaves() { return with(toy_tpu(), Habit::runs_expert_weight_gradients_last); }
Compiler hurries() { return without(leaves(), Habit::runs_expert_weight_gradients_last); }

// Hidden rows are read by wo's gradient, which comes behind attention's backward pass.
TEST(DroppedExperts, WeightGradientsRunLast) {
  const ToyMemory last = dropping(1, "fsdp=2", leaves()), first = dropping(1, "fsdp=2", hurries());
  const auto waits = [](const ToyMemory& toy) {
    return life_of(toy, "expert hidden").last > life_of(toy, "query gradient").last;
  };
  EXPECT_TRUE(waits(last));
  EXPECT_FALSE(waits(first));
}

// The experts' output is computed again for the mask's gradient alone. With several sequences on a device both come behind
// the gradient of the tokens that were dispatched.
TEST(DroppedExperts, OutputRunsAgainBehindTheRowsGradient) {
  const auto late = [](const ToyMemory& toy) {
    return life_of(toy, "expert output").first > life_of(toy, "dispatched tokens gradient").first;
  };
  EXPECT_TRUE(late(dropping(2, "fsdp=2", leaves())));
  EXPECT_FALSE(late(dropping(1, "fsdp=2", leaves())));
  EXPECT_FALSE(late(dropping(2, "fsdp=2", hurries())));
  EXPECT_FALSE(late(dropping(2, "fsdp=2", without(leaves(), Habit::recomputes_expert_output_last))));
  const ToyMemory toy = dropping(2, "fsdp=2", leaves());
  EXPECT_GE(life_of(toy, "MoeBlock_0/wo, gathered").last, life_of(toy, "expert output").first) << "read once more";
}

// One buffer of places for both masks: the gradient of the dispatch reads it, too. 128 experts lie otherwise.
TEST(DroppedExperts, MasksStayForTheDispatchsGradient) {
  const auto stays = [](const ToyMemory& toy) {
    return life_of(toy, "combine mask").last >= life_of(toy, "dispatched tokens gradient").first;
  };
  EXPECT_TRUE(stays(dropping(2, "fsdp=2", leaves())));
  EXPECT_FALSE(stays(dropping(1, "fsdp=2", leaves())));
  Model many = toy_mixtral();
  many.num_experts = 128;
  EXPECT_FALSE(stays(ToyMemory({many, toy_moe(toy_config(2, 1024), MoePath::dropping), "default", "fsdp=2", leaves()})));
}

// The kernel of the projection that runs again last reads the other one and the gradient of the hidden rows, and writes the
// hidden rows and, over what it read, both projections' gradients.
TEST(DroppedExperts, HiddenRowsAreMadeWithTheirGradients) {
  const Compiler fuses = with(leaves(), Habit::makes_hidden_rows_with_gradients);
  const ToyMemory toy = dropping(2, "fsdp=2", fuses);
  const int kernel = life_of(toy, "expert wi_1 output gradient").first;
  EXPECT_EQ(life_of(toy, "expert hidden").first, kernel);
  EXPECT_LT(life_of(toy, "expert wi_0 output").last, kernel);
  EXPECT_THROW(life_of(toy, "expert wi_1 output"), std::runtime_error);
  for (const ToyMemory& apart : {dropping(2, "fsdp=2", leaves()), dropping(1, "fsdp=2", fuses),
                                 dropping(2, "fsdp=2", fuses, "minimal")})
    EXPECT_LT(life_of(apart, "expert hidden").first, life_of(apart, "expert wi_1 output gradient").first);
  ToyRun split{toy_mixtral(), toy_moe(toy_config(2, 1024), MoePath::dropping), "default", "expert=2", fuses};
  split.config.moe_dispatch_no_expert_sharding = true;
  EXPECT_NO_THROW(life_of(ToyMemory(std::move(split)), "expert wi_1 output")) << "a part of the experts";
}

// 8 experts x 2^15 sequences x 2 slots of 8 tokens x 1024 hidden in bf16 are 1 GiB; twice as many sequences 2 GiB, which 32
// bits don't address.
TEST(DroppedExperts, HiddenRowsOfTwoGibibytesAreMadeApart) {
  const Compiler fuses = with(leaves(), Habit::makes_hidden_rows_with_gradients);
  const auto of = [&](double sequences) {
    return ToyMemory({toy_mixtral(), toy_moe(toy_config(sequences, 8), MoePath::dropping), "default", "fsdp=2", fuses});
  };
  const ToyMemory together = of(1 << 15), apart = of(1 << 16);
  EXPECT_EQ(mib(life_of(together, "expert hidden").bytes), 1024);
  EXPECT_EQ(life_of(together, "expert hidden").first, life_of(together, "expert wi_1 output gradient").first);
  EXPECT_LT(life_of(apart, "expert hidden").first, life_of(apart, "expert wi_1 output gradient").first);
}

// XLA:GPU has a kernel for each projection's gradient: the first lies over the projection that it is made of.
TEST(DroppedExperts, GradientsLieOverWhatRanAgain) {
  const auto overwrites = [](const Compiler& compiler, const char* remat) {
    const ToyMemory toy = dropping(2, "fsdp=2", compiler, remat);
    return life_of(toy, "expert wi_1 output").last < life_of(toy, "expert wi_1 output gradient").first;
  };
  const Compiler gpu = with(with(toy_gpu(), Habit::runs_expert_weight_gradients_last), Habit::overwrites_last_projection);
  EXPECT_TRUE(overwrites(gpu, "full"));
  EXPECT_FALSE(overwrites(leaves(), "full")) << "on a TPU";
}

// Slices of 4 of 8 experts under a rule set that doesn't say so; the gradient is that of all.
TEST(DroppedExperts, MasksThatAreMadeInSlicesAreThereInSlices) {
  const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(2, 1024), MoePath::dropping), "cp-as-ep", "expert=2",
                       without(leaves(), Habit::gathers_mask_gradients)});
  EXPECT_EQ(life_of(toy, "combine mask").bytes.value * 2, life_of(toy, "combine mask gradient").bytes.value);
}

// fsdp=2, expert=4: wo's gradient reads hidden rows of its 2 experts, [2, 1024], gathered over fsdp, and a gradient [8, 512]
// of which all experts' is gathered. What takes less comes first, and that gradient behind those of wi_0 and wi_1. With
// expert=2 the hidden rows [4, 1024] are as large, and the gradient is a slice when they are gathered.
TEST(DroppedExperts, AGradientThatIsGatheredWholeComesLast) {
  Compiler compiler = leaves();
  compiler.overlap.asynchronous.set(CollectiveKind::reduce_scatter, false);
  const auto comes_last = [&](const char* mesh) {
    ToyRun toy{toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::dropping), "default", mesh, compiler};
    toy.config.moe_dispatch_no_expert_sharding = true;
    const ToyMemory memory(std::move(toy));
    return life_of(memory, "expert hidden").last > life_of(memory, "dispatched tokens").last;
  };
  EXPECT_TRUE(comes_last("fsdp=2,expert=4"));
  EXPECT_FALSE(comes_last("fsdp=2,expert=2"));
}

// Sums beside compute: 8 experts of 512 x 1024 in bf16 are 8 MiB, before and after an all-reduce. Three of them overlap: six
// times that at the last step, elsewhere one gradient and what it is made of.
TEST(DroppedExperts, SumsBesideComputeAreAllThereAtTheEnd) {
  const Compiler beside = leaves();
  Compiler alone = leaves();
  alone.overlap.asynchronous.set(CollectiveKind::reduce_scatter, false);
  const auto at_the_end = [](const ToyMemory& toy) {
    std::int64_t all = 0;
    const PartitionedBlock& layer = toy.block("layers");
    for (const Lifetime& life : layer.lifetimes) {
      const bool summed = describe(life.name, *layer.block).find("sum") != std::string::npos;
      if (summed && life.last == end_of(toy)) all += mib(life.bytes);
    }
    return all;
  };
  EXPECT_EQ(at_the_end(dropping(1, "data=2", beside)), 6 * 8);
  EXPECT_EQ(at_the_end(dropping(1, "data=2", alone)), 0);
  EXPECT_EQ(at_the_end(dropping(1, "data=2", without(beside, Habit::sums_expert_gradients_together))), 0);
}

// Experts that fsdp splits too: of each gradient 4 MiB are summed, and gathered to the 8 of all experts before the slice.
TEST(DroppedExperts, GradientsThatAreMadeWholeAreAllThereAtTheEnd) {
  const auto whole_at_the_end = [](const Compiler& compiler) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::dropping), "shard-exp-on-fsdp",
                         "fsdp=2,expert=2", compiler});
    const PartitionedBlock& layer = toy.block("layers");
    return std::count_if(layer.lifetimes.begin(), layer.lifetimes.end(), [&](const Lifetime& life) {
      return describe(life.name, *layer.block).ends_with("gradient, gathered whole") && life.last == end_of(toy);
    });
  };
  Compiler alone = leaves();
  alone.overlap.asynchronous.set(CollectiveKind::reduce_scatter, false);
  EXPECT_GT(whole_at_the_end(leaves()), whole_at_the_end(alone));
}

// Products of a library: with several sequences on a device one kernel reads both projections and the gradient of the hidden
// rows, and writes both projections' gradients, the hidden rows turned for their weight's gradient, and as the product
// wants them that runs again: beside all that it reads.
TEST(DroppedExperts, LibraryProductsOverwriteNothing) {
  const Compiler library = with(leaves(), Habit::writes_product_operands);
  const ToyMemory toy = dropping(2, "fsdp=2", library);
  const Lifetime &read = life_of(toy, "expert hidden gradient, beside those it is made into"),
                 &written = life_of(toy, "expert wi_0 output gradient"), &again = life_of(toy, "expert output");
  EXPECT_LE(written.first, read.first);
  EXPECT_LE(life_of(toy, "expert hidden, not turned").last, again.first);
  EXPECT_GT(again.first, read.first);
  EXPECT_LT(again.first, life_of(toy, "dispatched tokens gradient").first);
  EXPECT_GE(life_of(toy, "MoeBlock_0/wo, gathered").last, again.first) << "read by the gradient and by what runs again";
  EXPECT_THROW(life_of(dropping(1, "fsdp=2", library), "expert hidden, not turned"), std::runtime_error);
  EXPECT_THROW(life_of(dropping(2, "fsdp=2", library, "minimal"), "expert hidden, not turned"), std::runtime_error);
  EXPECT_THROW(life_of(dropping(2, "fsdp=2", leaves()), "expert hidden, not turned"), std::runtime_error);
}

// XLA:GPU: [8 experts, 2 sequences, 256 slots, 512] in bf16 is 4 MiB a layer, four layers; one sequence lies as it is
// wanted, and a policy that saves no output has none to turn.
TEST(DroppedExperts, SavedOutputsAreTurnedForTheirMasksGradient) {
  const auto turned = [](std::int64_t sequences, const Compiler& compiler, const char* remat) {
    const ToyMemory toy = dropping(sequences, "fsdp=2", compiler, remat);
    return mib(turned_stacks(toy.block("layers"), *toy.bound().mesh, toy.compiler()));
  };
  EXPECT_EQ(turned(2, toy_gpu(), "minimal"), 16);
  EXPECT_EQ(turned(1, toy_gpu(), "minimal"), 0);
  EXPECT_EQ(turned(2, toy_gpu(), "full"), 0);
  EXPECT_EQ(turned(2, toy_tpu(), "minimal"), 0);
}

// Within the limit, or beyond it without the copy, behind the loss and beside what that left; else in front of it.
TEST(DroppedExperts, OutputsAreTurnedInFrontOfTheLossNearTheLimit) {
  const ToyMemory toy = dropping(8, "fsdp=2", with(toy_gpu(), Habit::budgets_temporaries), "minimal");
  const auto moments = moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual);
  const auto turn =
      std::find_if(moments.begin(), moments.end(), [](const Moment& moment) { return moment.turned.value > 0; });
  ASSERT_NE(turn, moments.end());
  EXPECT_GT(turn->not_before_loss.value, 0);
  const Bytes with_copy = turn->total(), without_copy = with_copy - turn->turned;
  EXPECT_EQ(at_turn(*turn, with_copy).total(), with_copy);
  EXPECT_EQ(at_turn(*turn, without_copy).total(), with_copy - turn->not_before_loss);
  EXPECT_EQ(at_turn(*turn, without_copy - Bytes{1}).total(), with_copy);
}

}  // namespace
}  // namespace shardplan
