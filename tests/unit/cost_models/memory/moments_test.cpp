// Which moment is the largest, and that its parts add up.
#include <gmock/gmock.h>

#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/head_order.hpp>
#include <cost_models/memory/stacked_weights.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

Model with_vocab(std::int64_t vocab) {
  Model model = toy_llama();
  model.vocab = vocab;
  return model;
}

/// Little to compute, every matrix to orthogonalize.
ToyRun with_muon() {
  TrainConfig config = toy_config(1, 128);
  config.opt_type = OptimizerType::muon;
  return {toy_llama(), config, "default", "fsdp=1", with(toy_tpu(), Habit::orthogonalizes_matrices_together)};
}

TEST(Moments, TheLargestWins) {
  struct Row {
    ToyRun run;
    std::string moment;
  };
  const std::vector<Row> rows = {
      {{toy_llama(), toy_config(1, 1024), "default", "fsdp=1", toy_tpu()}, "backward of layers"},
      {{with_vocab(131072), toy_config(8, 1024), "default", "fsdp=8", toy_tpu()}, "loss"},
      {{toy_deepseek(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "fsdp=4", toy_tpu()},
       "backward of moe_layers"},
      {with_muon(), "optimizer"},
  };
  for (const auto& row : rows) EXPECT_EQ(ToyMemory(row.run).use().peak_moment, row.moment);
}

TEST(Moments, BackwardOfAStackHoldsCopiesGradientsAndSavedInputs) {
  const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", "fsdp=1", toy_tpu()});
  const MemoryUse use = toy.use();
  const auto& layers = toy.block("layers");
  EXPECT_EQ(mib(use.gradients), 160 + 8);  // the stack in float32, the head in bf16
  EXPECT_EQ(mib(use.activations), 4 * 2);
  EXPECT_EQ(use.temporaries, working_set(layers, layers.backward_begins) +
                                 stacked_weight_copies(layers, toy.bound(), toy.config(), toy.compiler()));
  EXPECT_EQ(use.peak(), use.parameters + use.optimizer + use.batch + use.gradients + use.activations + use.temporaries);
}

// The head's weight gradient is 256 MiB before it is summed, a layer's working set far less.
TEST(Moments, BehindAPeeledLoopADeferredHeadIsMadeBesideTheLayer) {
  const Compiler deferring = with(toy_tpu(), Habit::defers_head_gradient);
  const auto toy = [](const char* policy, const Compiler& compiler) {
    return ToyMemory({with_vocab(131072), toy_config(8, 1024, policy), "default", "fsdp=8", compiler});
  };
  const ToyMemory peeled = toy("qkv_proj_offloaded", with(deferring, Habit::peels_offloading_loops));
  const MemoryUse use = peeled.use();
  const auto &layers = peeled.block("layers"), &table = peeled.block("embedding");
  EXPECT_EQ(use.peak_moment, "backward of layers");
  EXPECT_LT(mib(working_set(layers, layers.backward_begins)), 256);
  EXPECT_GT(mib(use.temporaries), 256 + mib(working_set(table, table.backward_begins)));
  EXPECT_GT(use.peak(), toy("qkv_proj_offloaded", deferring).use().peak());
  EXPECT_EQ(toy("full", with(deferring, Habit::peels_offloading_loops)).use().peak(), toy("full", deferring).use().peak());
}

// The same head: logits and their gradient, gathered weight and the weight's gradient are 256 MiB each. Late the logits wait
// beside the layers; XLA's list takes weight and gradient in turn. It is taken where its estimate is less, host memory
// counted: not where the loops save more than the head takes, nor for a policy that moves feed-forwards or sorted rows.
TEST(Moments, AHeadThatMayWaitIsMadeInTurnWhereTheListNeedsLess) {
  const Compiler peeling =
      with(with(toy_tpu(), Habit::peels_offloading_loops), Habit::all_reduces_over_whole_slices);
  const Compiler listing = with(peeling, Habit::takes_list_order);
  const auto order = [](const Model& base, const TrainConfig& config, const Compiler& compiler, std::int64_t layers = 4) {
    Model model = base;
    model.vocab = 131072, model.layers = layers;
    const ToyMemory toy({model, config, "default", "fsdp=8", compiler});
    return expected_late_or_early(toy.blocks(), toy.bound(), toy.config(), compiler, toy.use());
  };
  const TrainConfig offloads = toy_config(8, 1024, "qkv_proj_offloaded");
  EXPECT_EQ(order(toy_llama(), offloads, peeling), HeadGradient::late);
  EXPECT_EQ(order(toy_llama(), offloads, listing), HeadGradient::early_in_turn);
  EXPECT_EQ(order(toy_llama(), offloads, listing, 256), HeadGradient::late) << "32 GiB of inputs and of values on the host";
  EXPECT_EQ(order(toy_llama(), toy_config(8, 1024, "minimal_offloaded"), listing), HeadGradient::late);
  EXPECT_EQ(order(toy_mixtral(), toy_moe(offloads, MoePath::ragged), listing), HeadGradient::late);
  EXPECT_EQ(order(toy_mixtral(), toy_moe(offloads, MoePath::dropping), listing), HeadGradient::early_in_turn);
}

// plan_llama417b16e_tpuv5p_64, gptoss20b_v5p32_qkvoff: beside the values of several mixtures that are computed again the
// head's product has no room. Single layers, cycles whose feed-forwards aren't (plan_gptoss20b_tpuv6e_64) and dense ones
// (plan_olmo37b_tpuv6e_16) wait.
TEST(Moments, BehindACycleOfMixturesThatIsComputedAgainTheHeadIsMadeEarly) {
  const Compiler compiler =
      with(with(toy_tpu(), Habit::peels_offloading_loops), Habit::all_reduces_over_whole_slices);
  const auto waits = [&](int locals, const char* policy, const Model& of = toy_llama()) {
    Model model = of;
    model.vocab = 32768;
    model.layers = 12;
    if (locals > 0) model.attention_pattern = {256, locals};
    const TrainConfig config = toy_moe(toy_config(8, 8192, policy), MoePath::ragged);
    const ToyMemory toy({model, config, "default", "fsdp=8", compiler});
    const MemoryUse use = toy.use({toy.use().if_head_waits.value * 5 / 4});  // at 80% of the memory
    return use.peak() == use.if_head_waits;
  };
  EXPECT_FALSE(waits(2, "qkv_proj_offloaded", toy_mixtral()));
  EXPECT_TRUE(waits(2, "qkv_proj_offloaded"));
  EXPECT_TRUE(waits(0, "qkv_proj_offloaded"));
  EXPECT_TRUE(waits(2, "minimal_offloaded"));
}

// The head [1024, 32768] is 64 MiB in bf16, and so is its gradient, all-reduced whole. In XLA's list order the gradient
// takes the gathered weight's place, but the layers' gradients (four of 10 Mi in float32, over 8 devices: 20 MiB) are
// cleared by then. It is taken where the loss is the peak: not of so many tokens that what the loops save, held twice, is
// more; not where the layers' gradients are more than the weight's.
TEST(Moments, TheListOrderIsTakenWhereItNeedsTheLeast) {
  const auto saved = [](const Model& model, double sequences) {
    const auto peak = [&](const Compiler& compiler) {
      return ToyMemory({model, toy_config(sequences, 1024, "minimal"), "default", "fsdp=8", compiler}).use().peak();
    };
    const Bytes norms{1 << 19};  // less than that
    return mib(peak(toy_tpu()) - peak(with(toy_tpu(), Habit::takes_list_order)) + norms);
  };
  EXPECT_EQ(saved(with_vocab(32768), 1), 64 - 20);
  EXPECT_EQ(saved(with_vocab(32768), 16), 0) << "what the loops save";
  Model deep = with_vocab(32768);
  deep.layers = 16;
  EXPECT_EQ(saved(deep, 1), 0) << "80 MiB of gradients";
}

// A tied head's gradient is added to the table's in the other orders, and the logits wait for it.
TEST(Moments, ATiedHeadsGradientIsLateUnlessTheListOrderIsTaken) {
  Model tied = with_vocab(32768);
  tied.tied_embedding = true;
  const Compiler lists = with(toy_tpu(), Habit::takes_list_order);
  const auto order = [&](double sequences, const Model& model, const Compiler& compiler) {
    const ToyMemory toy({model, toy_config(sequences, 1024, "minimal"), "default", "fsdp=8", compiler});
    const auto usual = moments_of(toy.blocks(), toy.bound(), toy.config(), compiler, HeadGradient::habitual);
    const bool late = is_head_gradient_deferred(toy.block("head"), toy.bound(), toy.config(), compiler);
    return std::pair(late, usual_or_listed(toy.blocks(), toy.bound(), toy.config(), compiler, usual));
  };
  EXPECT_EQ(order(1, tied, lists), std::pair(true, HeadGradient::habitual)) << "64 MiB of logits, as much as the weight";
  EXPECT_EQ(order(16, tied, lists), std::pair(true, HeadGradient::early_in_list)) << "1 GiB of logits would wait";
  Model deep = tied;
  deep.layers = 16;
  EXPECT_EQ(order(16, deep, lists), std::pair(true, HeadGradient::habitual)) << "what the loops save, held twice";
  EXPECT_EQ(order(16, with_vocab(32768), lists), std::pair(false, HeadGradient::habitual));
  EXPECT_EQ(order(16, tied, toy_tpu()), std::pair(false, HeadGradient::habitual));
}

// The head [1024, 131072] is 256 MiB in bf16 and so is its whole gradient. The logits' gradient of 512 tokens (128 MiB) and
// their normed rows (1 MiB) are less: they wait until the layers have run, and the weight's gradient comes beside them.
TEST(Moments, AHeadLargerThanWhatItsGradientIsMadeOfWaits) {
  const auto use = [](const Compiler& compiler) {
    return ToyMemory({with_vocab(131072), toy_config(0.5, 1024), "default", "fsdp=2,context=2", compiler}).use();
  };
  const MemoryUse here = use(toy_tpu()), later = use(with(toy_tpu(), Habit::defers_larger_head_gradient));
  EXPECT_EQ(here.peak_moment, "loss");
  EXPECT_EQ(later.peak_moment, "gradient of the head");
  EXPECT_EQ(mib(later.temporaries), 256);
  EXPECT_EQ(mib(later.gradients), 40 + 128 + 1) << "the layers' shards in float32, and what waits";
}

// 64 of 1024 columns on each of 16 devices lie with 4096 words along the lanes; turned, and with both moments, they take
// 4096 · 128 · 12 B. Where products compute the gradient of several sequences' logits that is before the loss, else behind
// it.
TEST(Moments, TablesAreTurnedBeforeTheLossOfSeveralSequencesAlone) {
  const auto turned = [](double sequences, const Compiler& compiler, const std::string& name) {
    const auto temporaries = [&](const Compiler& like) {
      const ToyMemory toy({toy_llama(), toy_config(sequences, 1024), "default", "fsdp=16", like});
      const auto all = moments_of(toy.blocks(), toy.bound(), toy.config(), toy.compiler(), HeadGradient::habitual);
      for (const Moment& moment : all)
        if (moment.name() == name) return mib(moment.temporaries);
      throw std::runtime_error("no moment " + name);
    };
    return temporaries(with(compiler, Habit::pads_to_tiles)) - temporaries(compiler);
  };
  const Compiler own = without(toy_tpu(), Habit::overwrites_logits);
  EXPECT_EQ(turned(1, toy_tpu(), "loss"), 0);
  EXPECT_EQ(turned(2, toy_tpu(), "loss"), 6);
  EXPECT_EQ(turned(2, own, "loss"), 0);
  EXPECT_EQ(turned(2, own, "backward of layers"), turned(2, toy_tpu(), "backward of layers"));
}

// Query, key and value of 8 sequences of 1024 tokens, 16 MiB each, go to the host: those of four layers, or of three.
TEST(Moments, AtTheLossAPeeledIterationIsStillOnTheDevice) {
  const auto waiting = [](const Compiler& compiler) {
    const MemoryUse use =
        ToyMemory({with_vocab(131072), toy_config(8, 1024, "qkv_proj_offloaded"), "default", "fsdp=8", compiler}).use();
    EXPECT_EQ(use.peak_moment, "loss");
    return mib(use.activations);
  };
  EXPECT_EQ(waiting(with(toy_tpu(), Habit::peels_offloading_loops)) - waiting(toy_tpu()), 3 * 16);
}

TEST(Moments, AccumulatedGradientsStayBesideNewOnes) {
  TrainConfig config = toy_config(1, 1024);
  const std::int64_t once = mib(ToyMemory({toy_llama(), config, "default", "fsdp=1", toy_tpu()}).use().gradients);
  config.gradient_accumulation_steps = 2;
  // Parameters in float32: 40 Mi of layers, 4 Mi each of embedding and head.
  EXPECT_EQ(mib(ToyMemory({toy_llama(), config, "default", "fsdp=1", toy_tpu()}).use().gradients), once + 4 * 48);
}

TEST(Moments, ACycleIsRecomputedAsAWhole) {
  Model model = toy_llama();
  model.layers = 12;
  const auto temporaries = [&](int locals) {
    model.attention_pattern = {256, locals};
    return ToyMemory({model, toy_config(1, 1024), "default", "fsdp=1", toy_tpu()}).use().temporaries;
  };
  // Values of each further layer wait from its recomputation to its gradient: 2 MiB each of two norms' outputs,
  // query, key, value, context, the residual between them and the next layer's input, 4 MiB of each MLP projection and
  // the hidden. The weights they were recomputed with don't: they are gathered again.
  EXPECT_EQ(mib(temporaries(5) - temporaries(1)), 4 * (8 * 2 + 3 * 4));
}

TEST(Moments, LayersOfAStageFetchTheNextOnesWeights) {
  TrainConfig config = toy_config(1, 1024);
  config.num_pipeline_microbatches = 4;
  const auto set = [&](std::int64_t layers_per_stage, const Compiler& compiler) {
    config.num_layers_per_pipeline_stage = layers_per_stage;
    const ToyMemory toy({toy_llama(), config, "default", "stage=2,fsdp=2", compiler});
    return working_set(Loop{&toy.block("layers")}, toy.bound(), toy.config(), toy.compiler());
  };
  EXPECT_EQ(mib(set(2, toy_tpu()) - set(1, toy_tpu())), 20);  // 10 Mi gathered in bf16
  // Gate, projection, hidden rows and their gradient of the other layer, 4 MiB each, and what attention's gradients read.
  const Compiler last = with(with(toy_tpu(), Habit::runs_kept_weight_gradients_last),
                             Habit::runs_weight_gradients_beside_collectives);
  EXPECT_GE(mib(set(2, last) - set(1, last)), 20 + 4 * 4);
}

// Experts 8 x 3 x 512 x 1024, a quarter of them on a device. On the dropping path the other layer leaves what their weight
// gradients read; where each row is multiplied with each of the two experts, two copies of the rows of both products.
TEST(Moments, MixturesOfAStageLeaveWhatTheirWeightGradientsRead) {
  const Compiler last = with(toy_gpu(), Habit::runs_cycle_weight_gradients_last);
  const Compiler dense = with(last, Habit::ragged_dot_is_dense);
  const auto other = [](MoePath path, const Compiler& compiler) {
    const auto set = [&](std::int64_t layers_per_stage) {
      TrainConfig config = toy_moe(toy_config(1, 1024), path);
      config.megablox = false;
      config.num_pipeline_microbatches = 4;
      config.num_layers_per_pipeline_stage = layers_per_stage;
      const ToyMemory toy({toy_mixtral(), config, "default", "stage=2,expert=4", compiler});
      return working_set(Loop{&toy.block("layers")}, toy.bound(), toy.config(), toy.compiler());
    };
    return mib(set(2) - set(1));
  };
  const auto without_wait = other(MoePath::dropping, toy_gpu());
  EXPECT_GT(other(MoePath::dropping, last), without_wait);
  EXPECT_EQ(other(MoePath::ragged, last), other(MoePath::ragged, toy_gpu()));
  EXPECT_GT(other(MoePath::ragged, dense), other(MoePath::ragged, with(toy_gpu(), Habit::ragged_dot_is_dense)));
}

}  // namespace
}  // namespace shardplan
