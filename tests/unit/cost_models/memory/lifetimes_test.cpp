// Which buffers of one layer are alive together in its backward pass.
#include <gmock/gmock.h>

#include <cost_models/layouts/tiles.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

TEST(WorkingSet, IsTheLargestSumOfBuffersAliveTogether) {
  PartitionedBlock block;
  block.lifetimes = std::vector<Lifetime>{
      {"a", {10}, 0, 1}, {"b", {20}, 1, 3}, {"c", {30}, 2, 2}, {"d", {40}, 4, 5}, {"in place", {99}, 5, 4}};
  EXPECT_EQ(working_set(block, 0).value, 50);  // b and c at step 2
  EXPECT_EQ(working_set(block, 3).value, 40);  // d
  EXPECT_EQ(working_set(block, 6).value, 0);
}

TEST(Lifetimes, TheTwoProductsOfAGradientTakeTurns) {
  const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", "fsdp=4", toy_tpu()});
  const auto& layer = toy.block("layers");
  EXPECT_FALSE(meet(life(layer, "mlp/wo, gathered"), life(layer, "mlp/wo gradient, before reduction")))
      << "the gathered weight goes before its gradient comes";
  EXPECT_EQ(mib(life(layer, "mlp/wo gradient, before reduction").bytes), 4) << "whole before it is scattered";
}

TEST(Lifetimes, TheHeadsWeightGradientComesFirstWhereItIsAllReduced) {
  const auto together = [](const std::string& mesh, const Compiler& compiler) {
    const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", mesh, compiler});
    const auto& head = toy.block("head");
    return meet(life(head, "logits_dense, gathered"), life(head, "logits_dense gradient, before reduction"));
  };
  EXPECT_TRUE(together("fsdp=8", toy_tpu())) << "the slices that are all-reduced over have 8 devices or more";
  EXPECT_FALSE(together("fsdp=4", toy_tpu())) << "reduce-scattered";
  EXPECT_FALSE(together("fsdp=8", toy_gpu())) << "left for the end of the step";
}

// What the weight's gradient is made of waits until the layer's inputs have theirs, where features are split.
TEST(Lifetimes, WeightGradientsRunBesideCollectivesWhereThatIsTheHabit) {
  const auto waits = [](const char* mesh, const Compiler& compiler) {
    const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", mesh, compiler});
    const auto& layer = toy.block("layers");
    return meet(life(layer, "mlp hidden"), life(layer, "query gradient"));
  };
  const Compiler late = with(toy_tpu(), Habit::runs_weight_gradients_beside_collectives);
  EXPECT_TRUE(waits("fsdp=2,tensor=2", late));
  EXPECT_FALSE(waits("fsdp=4", late));
  EXPECT_FALSE(waits("fsdp=2,tensor=2", toy_tpu()));
}

// 1024 tokens: of 2048 hidden features in bf16 4 MiB, of 1024 features 2 MiB. Hidden rows that a policy keeps are in the
// stack; the products that read them multiply gate and projection as they read.
TEST(Lifetimes, WeightGradientsRunLastWhereTheFeedForwardIsKept) {
  const auto layer = [](const char* remat, const Compiler& compiler) {
    return ToyMemory({toy_llama(), toy_config(1, 1024, remat), "default", "fsdp=4", compiler});
  };
  const auto waits = [](const ToyMemory& toy) {
    const PartitionedBlock& block = toy.block("layers");
    return meet(life(block, "mlp/wi_0 output gradient"), life(block, "context gradient"));
  };
  const Compiler last = with(toy_tpu(), Habit::runs_kept_weight_gradients_last);
  for (const char* remat : {"minimal", "minimal_with_context", "minimal_offloaded"}) {
    EXPECT_TRUE(waits(layer(remat, last))) << remat;
    EXPECT_FALSE(exists(layer(remat, last).block("layers"), "mlp hidden")) << remat;
    EXPECT_FALSE(waits(layer(remat, toy_tpu()))) << remat;
  }
  for (const char* remat : {"full", "save_out_proj", "save_dot_except_mlp", "qkv_proj_offloaded"})
    EXPECT_FALSE(waits(layer(remat, last))) << remat;
}

// Hidden rows, their gradient and both projections are 4 MiB each; the projections' gradients are computed from them.
TEST(Lifetimes, WeightGradientsRunLastWhereTheFeedForwardIsComputedAgainBesideCollectives) {
  const Compiler compiler = with(with(toy_tpu(), Habit::runs_kept_weight_gradients_last),
                                 Habit::runs_weight_gradients_beside_collectives);
  for (const char* remat : {"full", "save_out_proj", "qkv_proj_offloaded"}) {
    const ToyMemory toy({toy_llama(), toy_config(1, 1024, remat), "default", "fsdp=4", compiler});
    const PartitionedBlock& block = toy.block("layers");
    const Lifetime& attention = life(block, "context gradient");
    for (const char* waits : {"mlp hidden", "mlp hidden gradient", "mlp/wi_0 output", "mlp/wi_1 output"})
      EXPECT_TRUE(meet(life(block, waits), attention)) << remat << ": " << waits;
    EXPECT_FALSE(exists(block, "mlp/wi_0 output gradient")) << remat;
    EXPECT_FALSE(exists(block, "mlp/wi_0 output, turned")) << remat;
  }
}

// The query's gradient, [1024, 8, 128], and its product with the cosine are 2 MiB each, the halves of 64 take 2 MiB, too.
TEST(Lifetimes, RotationsAreUndoneBesideWhatWaits) {
  const Compiler last = with(with(toy_tpu(), Habit::runs_kept_weight_gradients_last), Habit::pads_to_tiles);
  const ToyMemory toy({toy_llama(), toy_config(1, 1024, "minimal"), "default", "fsdp=4", last});
  const PartitionedBlock& block = toy.block("layers");
  EXPECT_EQ(mib(life(block, "attention query gradient, turned back").bytes), 4 * 2);
}

TEST(Lifetimes, KeptRowsAreTurnedForTheProductsOfWeightGradients) {
  const Compiler last = with(toy_tpu(), Habit::runs_kept_weight_gradients_last);
  const auto turned = [](const Compiler& compiler) {
    return ToyMemory({toy_llama(), toy_config(1, 1024, "minimal"), "default", "fsdp=4", compiler});
  };
  const ToyMemory toy = turned(with(last, Habit::turns_kept_rows));
  const PartitionedBlock& block = toy.block("layers");
  EXPECT_EQ(mib(life(block, "mlp/wi_0 output, turned").bytes), 4);
  EXPECT_TRUE(meet(life(block, "mlp/wi_0 output, turned"), life(block, "context gradient")));
  EXPECT_FALSE(exists(turned(last).block("layers"), "mlp/wi_0 output, turned"));
}

TEST(Lifetimes, ElementwiseGradientsAreWrittenInPlace) {
  const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", "fsdp=1", toy_tpu()});
  const auto& layer = toy.block("layers");
  EXPECT_FALSE(meet(life(layer, "mlp hidden gradient"), life(layer, "mlp/wi_0 output gradient")));
  EXPECT_TRUE(meet(life(layer, "mlp hidden gradient"), life(layer, "mlp/wi_0 output")));
}

TEST(Lifetimes, HeadsArePaddedToLanes) {
  Model model = toy_llama();
  model.head_dim = 64;
  const Compiler pads = with(toy_tpu(), Habit::pads_to_tiles);
  const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=1", pads});
  // 1024 tokens × 8 heads × 64 in bf16 are 1 MiB, in tiles of 128 lanes 2.
  EXPECT_EQ(mib(life(toy.block("layers"), "query").bytes), 2);
  EXPECT_EQ(mib(life(toy.block("layers"), "context gradient").bytes), 2);
  EXPECT_EQ(
      mib(life(ToyMemory({model, toy_config(1, 1024), "default", "fsdp=1", toy_tpu()}).block("layers"), "query").bytes),
      1);
}

TEST(Lifetimes, TheLogitsGradientIsWrittenOverTheLogits) {
  struct Case {
    std::string what;
    std::function<void(TrainConfig&)> change;
    std::int64_t mib_each;
  };
  const std::vector<Case> rows = {
      {"1024 tokens of 4096 in bf16", [](TrainConfig&) {}, 8},
      {"float32 products", [](TrainConfig& c) { c.logits_dot_in_fp32 = true; }, 16},
      {"a tile of four", [](TrainConfig& c) { c.num_vocab_tiling = 4; }, 2},
  };
  for (const auto& row : rows) {
    const ToyMemory toy({toy_llama(), with(toy_config(1, 1024), row.change), "default", "fsdp=1", toy_tpu()});
    const auto& head = toy.block("head");
    if (exists(head, "logits")) {  // not before a tile's backward pass
      EXPECT_FALSE(meet(life(head, "logits"), life(head, "logits gradient"))) << row.what;
      EXPECT_EQ(mib(life(head, "logits").bytes), row.mib_each) << row.what;
    }
    EXPECT_EQ(mib(life(head, "logits gradient").bytes), row.mib_each) << row.what;
  }
}

TEST(Lifetimes, LogitsMeetTheirGradientWhereItIsNotWrittenOverThem) {
  const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", "fsdp=1",
                       without(toy_tpu(), Habit::overwrites_logits)});
  EXPECT_TRUE(meet(life(toy.block("head"), "logits"), life(toy.block("head"), "logits gradient")));
}

// 1024 tokens of 1024 features are one for each.
TEST(Lifetimes, ManyTokensForTheWidthMakeAKernelOfTheLogitsGradient) {
  const auto meet_beyond = [](double tokens_per_embed) {
    Compiler compiler = toy_tpu();
    compiler.head_sizes[Habit::overwrites_logits].tokens_per_embed = tokens_per_embed;
    const ToyMemory toy({toy_llama(), toy_config(1, 1024), "default", "fsdp=1", compiler});
    return meet(life(toy.block("head"), "logits"), life(toy.block("head"), "logits gradient"));
  };
  EXPECT_FALSE(meet_beyond(1));
  EXPECT_TRUE(meet_beyond(0.9));
}

TEST(Lifetimes, CappedLogitsMeetTheirGradient) {
  Model model = toy_llama();
  model.caps_logits = true;
  const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=1", toy_tpu()});
  const auto& head = toy.block("head");
  EXPECT_EQ(mib(life(head, "logits").bytes), 8) << "1024 tokens of 4096 in bf16";
  EXPECT_EQ(mib(life(head, "logits gradient").bytes), 8);
  EXPECT_TRUE(meet(life(head, "logits"), life(head, "logits gradient"))) << "a kernel reads one and writes the other";
  EXPECT_FALSE(exists(head, "capped logits")) << "computed inside the loss and its gradient";
  EXPECT_FALSE(exists(head, "capped logits gradient"));

  Compiler overwrites = toy_gpu();
  overwrites.habits.add(Habit::overwrites_capped_logits);
  const ToyMemory gpu({model, toy_config(1, 1024), "default", "fsdp=1", overwrites});
  EXPECT_FALSE(meet(life(gpu.block("head"), "logits"), life(gpu.block("head"), "logits gradient")))
      << "an elementwise fusion writes over what dies in it";
}

// 1024 tokens; 126 rows of 1008 on each of eight devices are no whole tiles of 8, 128 of 1024 are.
TEST(Lifetimes, ScaledLogitsOfPartTilesMeetTheirGradientBeyondTokensForEachFeature) {
  const auto meet_beyond = [](double tokens_per_embed, std::int64_t emb, bool scales) {
    Model model = toy_llama();
    model.emb = emb;
    model.tied_embedding = true;
    model.scales_logits = scales;
    Compiler compiler = toy_tpu();
    compiler.head_sizes[Habit::overwrites_scaled_logits] = {tokens_per_embed, 0, 0};
    const ToyMemory toy({model, toy_config(1, 1024), "default", "fsdp=8", compiler});
    return exists(toy.block("head"), "logits gradient") &&
           meet(life(toy.block("head"), "logits"), life(toy.block("head"), "logits gradient"));
  };
  EXPECT_TRUE(meet_beyond(1, 1008, true));
  EXPECT_FALSE(meet_beyond(1.1, 1008, true));
  EXPECT_FALSE(meet_beyond(1, 1008, false)) << "not scaled";
  EXPECT_FALSE(meet_beyond(0.5, 1024, true)) << "whole tiles";
}

TEST(Lifetimes, DotProductAttentionKeepsProbabilitiesAndMask) {
  TrainConfig config = toy_config(1, 1024);
  config.attention = AttentionKernel::dot_product;
  const ToyMemory toy({toy_llama(), config, "default", "fsdp=1", toy_gpu()});
  const auto& layer = toy.block("layers");
  EXPECT_EQ(mib(life(layer, "attention probabilities").bytes), 16);  // 8 heads × 1024² in bf16
  EXPECT_EQ(mib(life(layer, "attention mask").bytes), 8);
  EXPECT_TRUE(meet(life(layer, "attention probabilities"), life(layer, "mlp hidden gradient")))
      << "through the MLP's backward pass";
  EXPECT_TRUE(meet(life(layer, "attention probabilities"), life(layer, "attention probabilities gradient")));

  config.attention = AttentionKernel::flash;
  EXPECT_FALSE(exists(ToyMemory({toy_llama(), config, "default", "fsdp=1", toy_gpu()}).block("layers"),
                      "attention probabilities"));
}

TEST(Lifetimes, AnOpaqueAttentionKernelHoldsWholeOperandsAndGradients) {
  TrainConfig config = toy_config(1, 1024);
  config.attention = AttentionKernel::flash;
  const Compiler compiler = with(toy_gpu(), Habit::attention_outside_shard_map);
  const ToyMemory toy({toy_llama(), config, "default", "fsdp=4", compiler});
  const auto& layer = toy.block("layers");
  for (const char* name : {"query", "key", "value"}) {
    const auto& gathered = life(layer, std::string(name) + ", gathered");
    const auto& gradient = life(layer, "attention " + std::string(name) + " gradient from self_attention/attention_op");
    EXPECT_EQ(mib(gathered.bytes), 8) << name;  // all 4 sequences
    EXPECT_EQ(mib(gradient.bytes), 8) << name;
    EXPECT_TRUE(meet(gathered, gradient)) << name;
  }
}

TEST(Lifetimes, MasksAreComputedWhereTheyAreRead) {
  const ToyMemory toy(
      {toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::dropping), "default", "expert=8", toy_tpu()});
  EXPECT_FALSE(exists(toy.block("layers"), "dispatch mask"));
  EXPECT_TRUE(exists(toy.block("layers"), "combine mask"));
}

// 1024 tokens × 2 experts × the worst case of 4 devices: 8192 rows, 512 wide (8 MiB) or 1024 wide (16 MiB) in bf16.
// When the rows' gradient returns, five of the first and three of the second wait for the weight gradients.
TEST(Lifetimes, WeightGradientsOfExchangedExpertsRunLast) {
  ToyRun run{toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "expert=4", toy_tpu()};
  const std::vector<std::string> waiting = {"routed tokens", "expert output gradient", "routed tokens gradient",
                                            "expert output", "expert hidden",
                                            "expert wi_0 output gradient", "expert wi_1 output gradient"};
  const auto together = [&](const ToyMemory& toy) {
    const auto& layer = toy.block("layers");
    Bytes sum;
    const auto& last = *std::find_if(layer.lifetimes.begin(), layer.lifetimes.end(), [&](const Lifetime& l) {
      // The dispatch's; the return has one too.
      return describe(l.name, *layer.block) == "rows in order of arrival, gradient";
    });
    for (const auto& name : waiting)
      if (exists(layer, name) && meet(life(layer, name), last)) sum += life(layer, name).bytes;
    return mib(sum + last.bytes);
  };
  EXPECT_EQ(together(ToyMemory(run)), 5 * 8 + 3 * 16);
  ToyRun ring{toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ring), "default", "expert=4", toy_tpu()};
  EXPECT_EQ(together(ToyMemory(ring)), 5 * 8 + 3 * 16) << "rows of all 4 devices, as many as the worst case";
  run.compiler = without(run.compiler, Habit::runs_expert_weight_gradients_last);
  EXPECT_EQ(together(ToyMemory(run)), 2 * 8) << "the gradient in both orders";
  run.compiler = toy_tpu();
  run.mesh = "fsdp=4";
  EXPECT_EQ(together(ToyMemory(run)), 2 * 2) << "nothing is exchanged";
}

// Exchanges beside compute: the output that is computed again goes back while the rows' gradient does.
TEST(Lifetimes, OutputsOfExchangedExpertsAreSentBackBesideTheRowsGradient) {
  const auto output_beside_gradient = [](const Compiler& compiler, const char* mesh) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", mesh, compiler});
    const Lifetime gradient = lives_of(toy, "layers", "routed tokens gradient").front();
    return std::ranges::count_if(lives_of(toy, "layers", "rows in order of arrival"),
                                 [&](const Lifetime& rows) { return meet(rows, gradient); });
  };
  Compiler alone = toy_tpu();
  alone.overlap.asynchronous.set(CollectiveKind::reduce_scatter, false);
  EXPECT_EQ(output_beside_gradient(toy_tpu(), "expert=4"), 1);
  EXPECT_EQ(output_beside_gradient(alone, "expert=4"), 0);
  EXPECT_EQ(output_beside_gradient(toy_tpu(), "fsdp=4"), 0) << "nothing is exchanged";
}

// Of two layers in one scan iteration the first is computed again whole, for the second.
TEST(Lifetimes, ExpertsOfALayerThatLeadsOnWaitForItsBackwardPass) {
  Model model = toy_mixtral();
  model.decoder_block = decoder_block(DecoderBlockKind::gpt_oss);
  model.attention_pattern = {256, 1};
  for (const MoePath path : {MoePath::ragged, MoePath::ring}) {
    const ToyMemory toy({model, toy_moe(toy_config(1, 1024), path), "default", "expert=4", toy_tpu()});
    const auto begins_with_layer = [&](const char* block, const char* rows) {
      return life(toy.block(block), rows).first < toy.block(block).gradients_begin;
    };
    for (const char* rows : {"expert output", "expert hidden"}) {
      EXPECT_TRUE(begins_with_layer("layers_local", rows)) << rows;
      EXPECT_FALSE(begins_with_layer("layers_global", rows)) << rows << ": computed again where they are read";
    }
  }
}

// minimal keeps wi_0 and the experts' output; wi_1, gathered to run again, comes when wo, gathered for the hidden rows'
// gradient, is gone, and stays until wi_0's gradient is made. full computes all three again: their weights are all there.
TEST(Lifetimes, AProjectionThatRunsAgainAloneComesBehindTheHiddenRowsGradient) {
  const auto toy = [](const char* policy, MoePath path) {
    return ToyMemory({toy_mixtral(), toy_moe(toy_config(1, 1024, policy), path), "default", "fsdp=4", toy_tpu()});
  };
  const auto together = [](const ToyMemory& of, const std::string& one, const std::string& other) {
    const PartitionedBlock& layer = of.block("layers");
    return meet(life(layer, one + ", gathered"), life(layer, other + ", gathered"));
  };
  const ToyMemory minimal = toy("minimal", MoePath::ragged), full = toy("full", MoePath::ragged);
  EXPECT_FALSE(together(minimal, "MoeBlock_0/wi_1", "MoeBlock_0/wo"));
  EXPECT_TRUE(together(minimal, "MoeBlock_0/wi_1", "MoeBlock_0/wi_0"));
  EXPECT_TRUE(together(full, "MoeBlock_0/wi_1", "MoeBlock_0/wo"));
}

// 512 columns of 1024 rows each on 8 devices are whole tiles of rows; 20 of 160 are not.
TEST(Lifetimes, ExpertsGatheredAlongCutTilesAreCopiedForTheirKernel) {
  const auto copied = [](std::int64_t embed, MoePath path, const Compiler& compiler) {
    Model model = toy_mixtral();
    model.emb = embed;
    const ToyMemory toy({model, toy_moe(toy_config(1, 1024), path), "default", "fsdp=8", compiler});
    return exists(toy.block("layers"), "MoeBlock_0/wi_0, gathered as it lies");
  };
  const Compiler pads = with(toy_tpu(), Habit::pads_to_tiles);
  EXPECT_TRUE(copied(160, MoePath::ragged, pads));
  EXPECT_FALSE(copied(512, MoePath::ragged, pads)) << "64 rows a device";
  EXPECT_FALSE(copied(160, MoePath::dropping, pads));
  EXPECT_FALSE(copied(160, MoePath::ragged, toy_tpu()));
}

// 1024 tokens × 6 experts × 4 devices, 512 wide in bf16: 24 MiB, in tiles of 8 rows 32. Tiles of 8 experts are the rows.
TEST(Lifetimes, RowsOfTheRingAreSummedInTilesOfEachToken) {
  const auto toy = [](int top_k, MoePath path) {
    Model model = toy_mixtral();
    model.top_k = top_k;
    return ToyMemory({model, toy_moe(toy_config(1, 1024), path), "default", "expert=4",
                      with(toy_tpu(), Habit::pads_to_tiles)});
  };
  const ToyMemory ring = toy(6, MoePath::ring);
  const Lifetime& rows = life(ring.block("layers"), "rows of each token");
  EXPECT_EQ(mib(rows.bytes), 32);
  EXPECT_TRUE(meet(rows, life(ring.block("layers"), "expert output")));
  EXPECT_FALSE(exists(toy(8, MoePath::ring).block("layers"), "rows of each token"));
  EXPECT_FALSE(exists(toy(6, MoePath::ragged).block("layers"), "rows of each token"));
}

// The ring sorts the rows of all devices: 1024 tokens × 2 experts × 8 devices × 512 wide in bf16, where an exchange has
// room for the worst case of 8 experts / 2.
TEST(Lifetimes, TheRingKeepsTheRowsOfAllItsDevices) {
  struct Case {
    MoePath path;
    double factor;
    std::int64_t mib_of_rows;
  };
  for (const auto& [path, factor, rows] :
       {Case{MoePath::ring, -1, 16}, Case{MoePath::ragged, -1, 8}, Case{MoePath::ring, 1, 2}}) {
    TrainConfig config = toy_moe(toy_config(1, 1024), path);
    config.ragged_buffer_factor = factor;
    const ToyMemory toy({toy_mixtral(), config, "default", "expert=8", toy_tpu()});
    EXPECT_EQ(mib(life(toy.block("layers"), "routed tokens").bytes), rows);
  }
}

// 1024 tokens × 6 experts × 512 wide in bf16: 6 MiB, in tiles of 8 rows 8; 2 experts take tiles of two rows.
TEST(Lifetimes, ReturnedRowsAreTilesOfEachToken) {
  const auto returned = [](int top_k, const Compiler& compiler) {
    Model model = toy_mixtral();
    model.top_k = top_k;
    const ToyMemory toy({model, toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "fsdp=4", compiler});
    return mib(life(toy.block("layers"), "returned rows").bytes);
  };
  const Compiler pads = with(toy_tpu(), Habit::pads_to_tiles);
  EXPECT_EQ(returned(6, pads), 8);
  EXPECT_EQ(returned(6, toy_tpu()), 6);
  EXPECT_EQ(returned(2, pads), 2);
  EXPECT_EQ(returned(8, pads), 8);
}

TEST(Lifetimes, RoutedRowsExistInBothOrders) {
  const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(1, 1024), MoePath::ragged), "default", "expert=4", toy_tpu()});
  const auto& layer = toy.block("layers");
  // 1024 tokens × 2 experts × the worst case of 4 devices × 512 wide in bf16.
  EXPECT_EQ(mib(life(layer, "routed tokens").bytes), 8);
  EXPECT_EQ(mib(life(layer, "rows in order of arrival").bytes), 8);
  EXPECT_TRUE(meet(life(layer, "routed tokens"), life(layer, "rows in order of arrival")));
}

}  // namespace
}  // namespace shardplan
