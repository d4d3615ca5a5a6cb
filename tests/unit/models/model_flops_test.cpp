// Expected FLOPs of a token: the TFLOP/s over the tokens/s that AI-Hypercomputer/tpu-recipes publishes for the same run
// (training/ironwood, and the v5p recipes of 2025, which count causal attention).
#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <models/model_flops.hpp>
#include <models/programs/train_program.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct Published {
  const char* model;
  std::int64_t sequence;
  double flops_per_token;
};

constexpr Published published[] = {
    {"llama3.1-70b", 8192, 4.492e11},     //
    {"llama3.1-70b", 131072, 9.324e11},   // attention is more than half
    {"llama3.1-405b", 8192, 2.524e12},    //
    {"qwen3-235b-a22b", 4096, 1.483e11},  // 8 of 128 experts
    {"deepseek3-671b", 8192, 2.812e11},   // MLA, shared expert
};

TEST(ModelFlops, AgreeWithPublishedRuns) {
  for (const auto& row : published) {
    const Program program = reference_program(load_model(row.model), row.sequence);
    EXPECT_NEAR(model_flops_per_token(program).value / row.flops_per_token, 1, 5e-4)
        << row.model << " at " << row.sequence;
  }
}

/// One layer, one head: 6·(weights - input table) + 6·heads·(qk + v)·keys.
Model toy() {
  Model model;
  model.name = "toy";
  model.layers = 2;
  model.emb = 8;
  model.q_heads = model.kv_heads = 1;
  model.head_dim = 4;
  model.mlp = 16;
  model.vocab = 100;
  model.mlp_activations = {"silu", "linear"};
  return model;
}

/// Two layers of 2·8·4·2 attention and 3·8·16 MLP weights, and the head: 6·(2·512 + 800).
constexpr double toy_weights = 6 * (2 * 512 + 800);

double flops(const Model& model) { return model_flops_per_token(reference_program(model, 100)).value; }

struct WindowedKeys {
  AttentionPattern pattern;
  std::int64_t sequence;
  double keys;  ///< summed over the two layers
};

const WindowedKeys windows[] = {
    {{0, 0}, 100, 50 + 50},           // causal: half
    {{10, 1}, 100, (10 - 0.5) + 50},  // w - w²/2S on the local one
    {{100, 1}, 100, 50 + 50},         // a window of the whole sequence is none
    {{200, 1}, 100, 50 + 50},         //
    {{10, 0}, 100, 50 + 50},          // period of one: every layer is global
};

TEST(ModelFlops, CountTheKeysThatAWindowLeaves) {
  for (const auto& row : windows) {
    Model model = toy();
    model.attention_pattern = row.pattern;
    EXPECT_DOUBLE_EQ(model_flops_per_token(reference_program(model, row.sequence)).value, toy_weights + 6 * 8 * row.keys)
        << "window " << row.pattern.window << ", locals " << row.pattern.locals_per_period;
  }
}

TEST(ModelFlops, TiedTableIsMultipliedOnce) {
  Model tied = toy();
  tied.tied_embedding = true;
  EXPECT_DOUBLE_EQ(flops(tied), flops(toy()));
}

/// 4 experts of width 16, 3 of them a token: 3·3·8·16 in place of the MLP, and a gate of 8·4.
Model toy_experts() {
  Model model = toy();
  model.num_experts = 4;
  model.top_k = 3;
  model.moe_mlp = 16;
  return model;
}

TEST(ModelFlops, CountATokensOwnExperts) {
  constexpr double layer = 2 * 8 * 4 * 2 + 3 * 3 * 8 * 16 + 8 * 4;
  EXPECT_DOUBLE_EQ(flops(toy_experts()), 6 * (2 * layer + 800) + 6 * 8 * 100);
}

// The program of a run: padded experts, a pipeline, accumulation and vocabulary tiles leave a token's worth alone.
TEST(ModelFlops, OfAnyProgramOfTheModelAreTheSame) {
  for (const MoePath path : {MoePath::dropping, MoePath::ragged, MoePath::ring}) {
    TrainConfig config;
    config.per_device_batch_size = 2;
    config.max_target_length = 100;
    config.moe_path = path;
    config.capacity_factor = 1.3;
    config.gradient_accumulation_steps = 3;
    config.num_vocab_tiling = 4;
    config.use_iota_embed = true;
    for (const std::int64_t stages : {1, 2})
      EXPECT_DOUBLE_EQ(model_flops_per_token(train_program(toy_experts(), config, {8, stages, 4})).value,
                       flops(toy_experts()))
          << name_of(path) << " on " << stages << " stages";
  }
}

// 12 of 48 layers attend to half the sequence with 16 heads of 256; in 36 a token works four times on 32 states of
// 128·128, however long the sequence.
TEST(ModelFlops, OfADeltaRuleDontGrowWithTheSequence) {
  const Model model = load_model("qwen3-next-80b-a3b");
  const double weights = 3874717696 - 151936.0 * 2048;
  for (const std::int64_t sequence : {1024, 8192})
    EXPECT_DOUBLE_EQ(model_flops_per_token(reference_program(model, sequence)).value,
                     6 * (weights + 12 * 16 * 512 * (static_cast<double>(sequence) / 2) + 36 * 32 * 128 * 128 * 4.0))
        << sequence;
}

// Beyond 2048 keys each of 128 heads of 192 + 128 attends to k - k²/2S of them, and 64 heads of 128 score half of all.
TEST(ModelFlops, OfAnIndexerAreItsScores) {
  Model model = load_model("deepseek3.2-671b");
  model.not_modelled.clear();
  const double indexer = 1536 * 64 * 128 + 7168 * 128 + 7168 * 64;
  const double weights = 38402910208 - 129280.0 * 7168;
  const auto flops = [&](std::int64_t sequence) {
    return model_flops_per_token(reference_program(model, sequence)).value;
  };
  EXPECT_DOUBLE_EQ(flops(2048), 6 * (weights - 61 * indexer + 61 * 128 * 320 * 1024.0));
  EXPECT_DOUBLE_EQ(flops(8192), 6 * (weights + 61 * 128 * 320 * (2048 - 256.0) + 61 * 64 * 129 * 4096.0));
}

TEST(ModelFlops, RefuseWhatIsNotModelled) {
  Model model = toy();
  model.not_modelled = "a layer that nobody wrote";
  EXPECT_THROW(flops(model), InputError);
}

}  // namespace
}  // namespace shardplan
