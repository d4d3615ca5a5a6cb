// What muon's matrices need while they are orthogonalized, X in float32, what is gathered in bf16.
#include <gmock/gmock.h>

#include <cost_models/memory/state/newton_schulz.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

ToyMemory muon_on(const Model& model, const Compiler& compiler) {
  TrainConfig config = toy_config(1, 1024);
  if (model.num_experts > 1) config = toy_moe(config, MoePath::ragged);
  config.opt_type = OptimizerType::muon;
  return ToyMemory({model, config, "default", "fsdp=4", compiler});
}

NewtonSchulz needs_of(const ToyMemory& toy) {
  return newton_schulz(toy.blocks(), toy.bound(), toy.config(), toy.compiler());
}

// Four layers, a quarter of each matrix on a device. The feed-forward's three, [1024, 2048]: 8 MiB in float32, 16 whole in
// bf16, A [1024, 1024] 8 in bf16. Query, key and value, [1024, 1024] split by rows: 4, 8 and 8. Attention's output, split by
// columns: 4, its A 16 in float32.
TEST(NewtonSchulz, OneMatrixAtATimeOrAllAtOnce) {
  const Compiler in_turn = without(toy_tpu(), Habit::orthogonalizes_matrices_together);
  const Compiler at_once = with(toy_tpu(), Habit::orthogonalizes_matrices_together);
  const std::int64_t feed_forward = 6 * 8 + 16 + 8, input = 6 * 4 + 8 + 8, output = 5 * 4 + 2 * 16;
  EXPECT_EQ(mib(needs_of(muon_on(toy_llama(), in_turn)).first), 5 * 8 + 4 + 16 + 8 / 4 + 3 * 8);
  EXPECT_EQ(mib(needs_of(muon_on(toy_llama(), at_once)).first), 3 * feed_forward + 3 * input + output);
  EXPECT_EQ(mib(needs_of(muon_on(toy_llama(), in_turn)).last), 0);
}

// Three layers of 16 experts, [1024, 512] split by the 1024: 24 MiB in float32, A [512, 512] 48, and 24 in bf16.
TEST(NewtonSchulz, ExpertsMatricesAreWholeAlongTheDimThatIsKept) {
  const Compiler in_turn = without(toy_tpu(), Habit::orthogonalizes_matrices_together);
  const Compiler at_once = with(toy_tpu(), Habit::orthogonalizes_matrices_together);
  EXPECT_EQ(mib(needs_of(muon_on(toy_deepseek(), in_turn)).last), 5 * 24 + 48 + 24 + 2 * 24);
  const NewtonSchulz all = needs_of(muon_on(toy_deepseek(), at_once));
  EXPECT_GE(mib(all.first), 3 * (5 * 24 + 2 * 48));  // and attention's, and the shared experts'
  EXPECT_EQ(mib(all.last), 0);
}

// The head's gradient waits whole where it is all-reduced, the table's and the layers' in shards.
TEST(NewtonSchulz, GradientsWaitBesideThem) {
  const ToyMemory toy = muon_on(toy_llama(), without(toy_tpu(), Habit::orthogonalizes_matrices_together));
  const MemoryUse use = toy.use();
  EXPECT_EQ(use.peak_moment, "optimizer");
  EXPECT_EQ(mib(use.gradients), 40 + 2 + 2);
  EXPECT_EQ(mib(use.temporaries), 86);
}

// Four layers, biases [8, 128] of queries, keys and values beside matrices of which muon keeps one moment: two of each.
TEST(NewtonSchulz, BiasesKeepBothMoments) {
  Model biased = toy_llama();
  biased.attention_bias = true;
  const auto optimizer = [](const Model& model) { return muon_on(model, toy_tpu()).use().optimizer; };
  const auto parameters = [](const Model& model) { return muon_on(model, toy_tpu()).use().parameters; };
  const Bytes biases = parameters(biased) - parameters(toy_llama());
  EXPECT_GT(biases.value, 0);
  EXPECT_EQ(optimizer(biased) - optimizer(toy_llama()), biases * 2);
}

}  // namespace
}  // namespace shardplan
