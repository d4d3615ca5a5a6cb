// The range around an expected peak: what predictions have been off by, and a head whose weight gradient comes last.
#include <gmock/gmock.h>

#include <shardplan/error.hpp>

#include "memory_toys.hpp"

namespace shardplan {
namespace {

Compiler off_by(double low, double high) {
  Compiler compiler = toy_tpu();
  compiler.memory_error[MoePath::none] = {low, high, 10};
  return compiler;
}

MemoryUse use_with(const Compiler& compiler, Model model = toy_llama()) {
  return ToyMemory({std::move(model), toy_config(1, 1024), "default", "fsdp=1", compiler}).use();
}

TEST(MemoryRange, IsOfWhatIsNotArgument) {
  const MemoryUse use = use_with(off_by(-0.1, 0.5));
  const Bytes rest = use.peak() - use.arguments();
  EXPECT_EQ(use.low.value, use.arguments().value + std::llround(static_cast<double>(rest.value) * 0.9));
  EXPECT_EQ(use.high.value, use.arguments().value + std::llround(static_cast<double>(rest.value) * 1.5));
}

TEST(MemoryRange, ALateHeadWaitsThroughTheLayers) {
  Model model = toy_llama();
  model.vocab = 65536;  // logits of 1024 tokens: 128 MiB in bf16, as much as the head's weight
  const MemoryUse use = use_with(off_by(0, 0), model);
  ASSERT_EQ(use.peak_moment, "backward of layers");
  // The head's gradient (128 MiB) gives way to the logits' (128 MiB) and the normed output (2 MiB).
  EXPECT_EQ(mib(use.high - use.peak()), 2);
  EXPECT_EQ(use.low, use.peak());
  const MemoryUse late = use_with(with(off_by(0, 0), Habit::defers_head_gradient), model);
  EXPECT_EQ(late.peak(), use.high);
  EXPECT_EQ(late.high, late.peak());
}

TEST(MemoryRange, ACompilerWithoutErrorsOfAPathIsABug) {
  Compiler compiler = toy_tpu();
  compiler.memory_error.clear();
  EXPECT_THROW(use_with(compiler), InternalError);
}

}  // namespace
}  // namespace shardplan
