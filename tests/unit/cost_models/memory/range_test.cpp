// The range around an expected peak: what predictions have been off by, and a head whose weight gradient comes last.
#include <gmock/gmock.h>

#include <cost_models/memory/moments.hpp>
#include <shardplan/error.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

Compiler off_by(double low, double high) {
  Compiler compiler = toy_tpu();
  compiler.memory_error[MoePath::none] = {low, high, 10};
  return compiler;
}

MemoryUse use_with(const Compiler& compiler) {
  return ToyMemory({toy_llama(), toy_config(1, 1024), "default", "fsdp=1", compiler}).use();
}

TEST(MemoryRange, IsOfWhatIsNotArgument) {
  const MemoryUse use = use_with(off_by(-0.1, 0.5));
  const Bytes rest = use.peak() - use.arguments();
  EXPECT_EQ(use.low.value, use.arguments().value + std::llround(static_cast<double>(rest.value) * 0.9));
  EXPECT_EQ(use.high.value, use.arguments().value + std::llround(static_cast<double>(rest.value) * 1.5));
}

TEST(MemoryRange, EndsWhereAKindOfModelHasNeededMore) {
  MemoryUse use = use_with(off_by(-0.1, 0.5));
  const Bytes low = use.low, high = use.high, rest = use.peak() - use.arguments();
  raise_range(use, 0.25);
  EXPECT_EQ(use.high, high) << "the compiler's own is wider";
  raise_range(use, 2);
  EXPECT_EQ(use.high.value, use.arguments().value + 3 * rest.value);
  EXPECT_EQ(use.low, low);
}

TEST(MemoryRange, ALateHeadWaitsThroughTheLayers) {
  const MemoryUse use = use_with(off_by(0, 0));
  ASSERT_EQ(use.peak_moment, "backward of layers");
  // The head's gradient, [1024, 4096] in bf16, gives way to that of the logits, as large, and the normed output (2 MiB).
  EXPECT_NEAR(static_cast<double>((use.high - use.peak()).value), 2 << 20, 4096);  // but for the norm's scale
  EXPECT_EQ(use.low, use.peak());
  Compiler defers = with(off_by(0, 0), Habit::defers_head_gradient);
  defers.overlap.window = 1;
  const MemoryUse late = use_with(defers);
  EXPECT_EQ(late.peak(), use.high);
  EXPECT_EQ(late.high, late.peak());
}

// A scheduler that hides collectives behind any kernel lets the head wait for what the table's rows move behind the loop.
TEST(MemoryRange, AHeadWaitsToHideWhatRowsMove) {
  const auto left = [](const char* mesh, const Compiler& compiler) {
    const ToyMemory toy({toy_llama(), toy_config(8, 1024), "default", mesh, compiler});
    for (const Moment& m : moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual))
      if (m.name() == "backward of layers") return m.gradients;
    throw InternalError("no layers");
  };
  const Compiler next = with(off_by(0, 0), Habit::defers_head_gradient);
  Compiler any = next;
  any.overlap.one_in_flight = true;
  EXPECT_LT(left("fsdp=1", any), left("fsdp=1", next)) << "nothing moves";
  EXPECT_EQ(left("data=8", any), left("data=8", next)) << "all-reduced";
}

// The head [1024, 8192] takes 16 MiB in bf16; the logits' gradient as much for 1024 tokens, with their rows 18, and half of
// that for 512. Waiting leaves nothing to wait besides, so that the range ends at the peak.
TEST(MemoryRange, AHeadLargerThanWhatItsGradientIsMadeOfIsExpectedLate) {
  const auto is_late = [](double sequences, const Compiler& compiler) {
    Model model = toy_llama();
    model.vocab = 8192;
    const MemoryUse use =
        ToyMemory({model, toy_config(sequences, 1024), "default", "fsdp=2,context=2",
                   with(compiler, Habit::defers_larger_head_gradient)})
            .use();
    EXPECT_EQ(use.peak_moment, "backward of layers");
    return use.high == use.peak();
  };
  EXPECT_FALSE(is_late(1, off_by(0, 0)));
  EXPECT_TRUE(is_late(0.5, off_by(0, 0)));
  Compiler kernel = off_by(0, 0);
  kernel.habits.remove(Habit::overwrites_logits);
  EXPECT_TRUE(is_late(0.5, kernel)) << "whoever makes the logits' gradient";
}

// If the device has room for the logits' gradient through the layers.
TEST(MemoryRange, AHeadIsExpectedLateWhereLoopsArePeeled) {
  const Compiler peeling = with(off_by(0, 0), Habit::peels_offloading_loops);
  const auto toy = [&](const std::string& mesh, const std::string& policy) {
    return ToyMemory({toy_llama(), toy_config(8, 1024, policy), "default", mesh, peeling});
  };
  const auto is_late = [](const MemoryUse& use) { return use.if_head_waits == use.peak(); };
  const ToyMemory peeled = toy("fsdp=8", "qkv_proj_offloaded");
  const Bytes most = peeled.use().if_head_waits;
  const MemoryUse late = peeled.use({most.value * 5 / 4});  // 80% of that
  ASSERT_EQ(late.peak_moment, "backward of layers");
  EXPECT_TRUE(is_late(late));
  EXPECT_LT(late.low, late.peak()) << "it need not wait";
  const MemoryUse early = peeled.use(late.peak());  // more than 93% of that
  EXPECT_FALSE(is_late(early));
  EXPECT_EQ(early.if_head_waits, late.peak());
  EXPECT_EQ(early.high, late.peak());
  EXPECT_TRUE(is_late(peeled.use({most.value * 5 / 2}))) << "40%";
  Model tied = toy_llama();
  tied.tied_embedding = true;
  const ToyMemory joined({tied, toy_config(8, 1024, "qkv_proj_offloaded"), "default", "fsdp=8", peeling});
  EXPECT_TRUE(is_late(joined.use({most.value * 5 / 2}))) << "the head's gradient is added to the table's";
  EXPECT_FALSE(is_late(toy("fsdp=8", "full").use()));
  const Compiler first = with(peeling, Habit::makes_head_gradient_before_offloaded);
  const ToyMemory featured({toy_llama(), toy_config(8, 1024, "qkv_proj_offloaded"), "default", "fsdp=8", first});
  EXPECT_FALSE(is_late(featured.use({most.value * 5 / 2}))) << "values come back before it could be made";
  const Compiler deferring = with(with(off_by(0, 0), Habit::peels_offloading_loops), Habit::defers_head_gradient);
  const ToyMemory habitual({toy_llama(), toy_config(8, 1024, "qkv_proj_offloaded"), "default", "fsdp=8", deferring});
  EXPECT_TRUE(is_late(habitual.use(late.peak())));
}

TEST(MemoryRange, ACompilerWithoutErrorsOfAPathIsABug) {
  Compiler compiler = toy_tpu();
  compiler.memory_error.clear();
  EXPECT_THROW(use_with(compiler), InternalError);
}

}  // namespace
}  // namespace shardplan
