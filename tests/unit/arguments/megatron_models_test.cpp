// Every built-in model in Megatron-LM's flags: the flags describe a model of the same size, or what they can't say is named.
#include <gmock/gmock.h>

#include <arguments/megatron/megatron_run.hpp>
#include <map>
#include <models/load_model.hpp>
#include <models/parameter_count.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

MegatronRun run_of_model(const std::string& name) {
  Configuration c = read_llama("");
  c.model = load_model(name);
  return megatron_run(c);
}

/// What a reader of the flags takes: the numbers by name, switches as 1.
class Said {
 public:
  explicit Said(const MegatronRun& run) {
    for (const auto& [name, values] : run.flags) words_[name] = values.empty() ? "1" : values.front();
  }
  bool has(const std::string& flag) const { return words_.contains(flag); }
  const std::string& word(const std::string& flag) const { return words_.at(flag); }
  double number(const std::string& flag, double otherwise = 0) const {
    return has(flag) ? std::stod(word(flag)) : otherwise;
  }

 private:
  std::map<std::string, std::string> words_;
};

double attention_weights(const Said& said) {
  const double emb = said.number("--hidden-size"), heads = said.number("--num-attention-heads");
  if (!said.has("--multi-latent-attention")) {
    const double channels = said.number("--kv-channels"), queries = said.has("--attention-output-gate") ? 3 : 2;
    return emb * channels * (queries * heads + 2 * said.number("--num-query-groups", heads));
  }
  const double key = said.number("--qk-head-dim"), turned = said.number("--qk-pos-emb-head-dim");
  const double value = said.number("--v-head-dim"), rank = said.number("--kv-lora-rank"), low = said.number("--q-lora-rank");
  const double queries = low > 0 ? low * (emb + heads * (key + turned)) : emb * heads * (key + turned);
  const double indexer = said.number("--dsa-indexer-head-dim") * (low * said.number("--dsa-indexer-n-heads") + emb);
  return queries + emb * (rank + turned) + rank * heads * (key + value) + heads * value * emb + indexer;
}

double delta_net_weights(const Said& said) {
  const double heads = said.number("--linear-num-value-heads");
  const double keys = said.number("--linear-num-key-heads") * said.number("--linear-key-head-dim");
  const double values = heads * said.number("--linear-value-head-dim");
  return said.number("--hidden-size") * (2 * keys + 3 * values + 2 * heads) +
         said.number("--linear-conv-kernel-dim") * (2 * keys + values);
}

double expert_weights(const Said& said, double matrices) {
  const double hidden = said.number("--num-experts") * said.number("--moe-ffn-hidden-size") +
                        said.number("--moe-shared-expert-intermediate-size");
  return said.number("--hidden-size") * (matrices * hidden + said.number("--num-experts"));
}

/// Of "([0]*3+[1]*58)" and "([0]*1+[1]*1)*24".
double layers_with_experts(const Said& said) {
  if (!said.has("--num-experts")) return 0;
  if (!said.has("--moe-layer-freq")) return said.number("--num-layers");
  double dense = 0, experts = 0, times = 1;
  std::sscanf(said.word("--moe-layer-freq").c_str(), "([0]*%lf+[1]*%lf)*%lf", &dense, &experts, &times);
  EXPECT_EQ((dense + experts) * times, said.number("--num-layers"));
  return experts * times;
}

double weights(const Said& said) {
  const double layers = said.number("--num-layers"), emb = said.number("--hidden-size");
  const double matrices = said.has("--swiglu") ? 3 : 2, with_experts = layers_with_experts(said);
  const double tables = said.has("--untie-embeddings-and-output-weights") ? 2 : 1;
  const double nets =
      said.has("--linear-attention-freq") ? layers - layers / said.number("--linear-attention-freq") : 0;
  return (layers - nets) * attention_weights(said) + nets * delta_net_weights(said) +
         with_experts * expert_weights(said, matrices) +
         (layers - with_experts) * matrices * emb * said.number("--ffn-hidden-size") +
         tables * emb * said.number("--vocab-size");
}

std::vector<std::string> missing_of(const std::string& model) {
  std::vector<std::string> all;
  for (const auto& [what, why] : run_of_model(model).untranslated) all.push_back(what);
  return all;
}

/// Windows have no weights.
bool names_a_difference(const std::vector<std::string>& missing) {
  return std::any_of(missing.begin(), missing.end(),
                     [](const std::string& what) { return what.find("windows of") == std::string::npos; });
}

TEST(MegatronModels, FlagsAreOfAModelOfThatSizeOrWhatTheyLackIsNamed) {
  int of_that_size = 0;
  for (const std::string& name : model_names()) {
    const Model model = load_model(name);
    if (!model.not_modelled.empty()) continue;
    const double said = weights(Said(run_of_model(name))), own = static_cast<double>(matrix_parameters(model));
    const bool same = std::abs(said - own) < 0.005 * own;
    of_that_size += same;
    EXPECT_TRUE(same || names_a_difference(missing_of(name))) << name << ": " << said << " for " << own;
  }
  EXPECT_GT(of_that_size, 40);
}

TEST(MegatronModels, LayersAreAllOfThem) {
  for (const std::string& name : model_names()) {
    const Model model = load_model(name);
    EXPECT_EQ(Said(run_of_model(name)).number("--num-layers"), model.layers * model.sublayers_per_layer) << name;
  }
  EXPECT_EQ(Said(run_of_model("gemma2-9b")).number("--num-layers"), 42);
}

TEST(MegatronModels, NormsAndCapsThatItLacksAreNamed) {
  int with_norms = 0, capped = 0;
  for (const std::string& name : model_names()) {
    const Model model = load_model(name);
    const auto missing = missing_of(name);
    const bool behind = model.use_post_attn_norm || model.use_post_ffw_norm;
    with_norms += behind;
    capped += model.caps_logits;
    EXPECT_EQ(behind, testing::Matches(Contains(HasSubstr("norms behind")))(missing)) << name;
    EXPECT_EQ(model.caps_logits, testing::Matches(Contains(HasSubstr("capped logits")))(missing)) << name;
    EXPECT_EQ(!model.use_pre_norm, testing::Matches(Contains(HasSubstr("layers without norms")))(missing)) << name;
  }
  EXPECT_GT(with_norms, 5);
  EXPECT_GT(capped, 2);
}

TEST(MegatronModels, LayersOfOtherKindsAreSaid) {
  for (const char* name : {"qwen3-next-80b-a3b", "qwen3.5-35b-a3b", "qwen3.5-397b-a17b"}) {
    const Said said(run_of_model(name));
    EXPECT_EQ(said.word("--experimental-attention-variant"), "gated_delta_net") << name;
    EXPECT_EQ(said.number("--linear-attention-freq"), 4) << name;
    EXPECT_TRUE(said.has("--attention-output-gate") && said.has("--moe-shared-expert-gate")) << name;
    EXPECT_THAT(missing_of(name), IsEmpty()) << name;
  }
  EXPECT_EQ(Said(run_of_model("deepseek3.2-671b")).word("--experimental-attention-variant"), "dsa");
  EXPECT_THAT(missing_of("deepseek4-284b"), Contains(HasSubstr("compressed attention")));
  EXPECT_FALSE(Said(run_of_model("deepseek4-284b")).has("--experimental-attention-variant"));
  EXPECT_THAT(missing_of("gemma4-26b"), Contains(HasSubstr("a dense feed-forward of")));
  EXPECT_THAT(missing_of("gemma4-e2b"), Contains(HasSubstr("from a table of its own")));
  EXPECT_EQ(Said(run_of_model("llama4-17b-128e")).word("--moe-layer-freq"), "([0]*1+[1]*1)*24");
}

TEST(MegatronModels, ValuesInsideLayersAreFlagsOrNamed) {
  Configuration c = read_llama("");
  c.model.inner_values = {{"rope_max_timescale", "1000000"},
                          {"normalization_layer_epsilon", "1e-06"},
                          {"rope_type", "default"},
                          {"rope_linear_scaling_factor", "1"}};
  const Said said(megatron_run(c));
  EXPECT_EQ(said.word("--norm-epsilon"), "1e-06");
  EXPECT_EQ(said.word("--rotary-base"), "1000000");
  const auto missing = [&] {
    std::vector<std::string> all;
    for (const auto& [what, why] : megatron_run(c).untranslated) all.push_back(what);
    return all;
  };
  EXPECT_THAT(missing(), Not(Contains(HasSubstr("model's file"))));
  c.model.inner_values.emplace_back("rope_type", "yarn");
  c.model.left_out = {{"partial_rotary_factor", "left out"}};
  EXPECT_THAT(missing(), Contains("of the model's file rope_type=yarn, partial_rotary_factor"));
}

TEST(MegatronModels, ARotaryBaseIsAValueThatIsNotKnown) {
  const MegatronRun run = run_of_model("mixtral-8x7b");
  ASSERT_EQ(run.unknown.size(), 1U);
  EXPECT_THAT(run.unknown[0].what, AllOf(HasSubstr("--rotary-base"), HasSubstr("mixtral-8x7b")));
  EXPECT_THAT(missing_of("mixtral-8x7b"), Not(Contains(HasSubstr("rotary"))));
  EXPECT_THAT(run_of_model("gpt3-6b").unknown, IsEmpty());
}

}  // namespace
}  // namespace shardplan
