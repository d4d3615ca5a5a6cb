// Expected counts: the weight shapes that MaxText creates for configs/models/*.yml at e591f30cb, multiplied out apart
// from this code (matrices, tables and MLA's latent norms).
#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <models/parameter_count.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct Count {
  const char* model;
  std::int64_t total, active;
};

constexpr Count counts[] = {
    {"deepseek-custom", 4222753792, 4112653312},
    {"deepseek4-284b", 284330404864, 13797796864},
    {"deepseek4-tiny", 27063216, 20722608},
    {"default", 1104150528, 1104150528},
    {"deepseek2-16b", 15706371584, 2661037568},
    {"deepseek2-236b", 235740815360, 21375180800},
    {"deepseek3-671b-2dfsdp", 671025522688, 37551400960},
    {"deepseek3-671b", 671025522688, 37551400960},
    {"deepseek3-671b-batchsplit", 671025522688, 37551400960},
    {"deepseek3.2-671b", 671877031936, 38402910208},
    {"deepseek3-test", 15851350016, 4539312128},
    {"deepseek3-tiny", 33697648, 27996016},
    {"envy-switch-base", 22077898752, 504496128},
    {"envy-switch-large", 78386298880, 1680867328},
    {"envy-switch-xxl", 396485459968, 15978201088},
    {"envy-test", 56448, 51072},
    {"gemma-2b", 2506358784, 2506358784},
    {"gemma-7b", 8537899008, 8537899008},
    {"gemma2-27b", 27226865664, 27226865664},
    {"gemma2-2b", 2614394880, 2614394880},
    {"gemma2-9b", 9241559040, 9241559040},
    {"gemma3-12b", 11765022720, 11765022720},
    {"gemma3-27b", 27007647744, 27007647744},
    {"gemma3-4b", 3879731200, 3879731200},
    {"gemma4-26b", 25232441344, 3821830144},
    {"gemma4-31b", 30696013824, 30696013824},
    {"gemma4-e2b", 4628283392, 4628283392},
    {"gemma4-e4b", 7462453248, 7462453248},
    {"gpt-oss-120b", 116788838400, 5710233600},
    {"gpt-oss-20b", 20907786240, 4186275840},
    {"gpt3-175b", 174564311040, 174564311040},
    {"gpt3-22b", 21944598528, 21944598528},
    {"gpt3-52k", 19456, 19456},
    {"gpt3-6b", 5536481280, 5536481280},
    {"kimi-k2-1t", 1026407327744, 32860596224},
    {"llama2-13b", 13015449600, 13015449600},
    {"llama2-70b", 68975329280, 68975329280},
    {"llama2-7b", 6738149376, 6738149376},
    {"llama3-405b", 405849243648, 405849243648},
    {"llama3-70b", 70552387584, 70552387584},
    {"llama3-8b", 8029995008, 8029995008},
    {"llama3.1-405b", 405849243648, 405849243648},
    {"llama3.1-70b", 70552387584, 70552387584},
    {"llama3.1-8b", 8029995008, 8029995008},
    {"llama3.3-70b", 70552387584, 70552387584},
    {"llama4-17b-128e", 400711352320, 17184194560},
    {"llama4-17b-16e", 107769364480, 17172398080},
    {"mistral-7b", 7241465856, 7241465856},
    {"mixtral-8x22b", 140629377024, 39160774656},
    {"mixtral-8x7b", 46702526464, 12879659008},
    {"olmo3-32b", 32232468480, 32232468480},
    {"olmo3-7b-pt", 7297482752, 7297482752},
    {"olmo3-7b", 7297482752, 7297482752},
    {"qwen2.5-1.5b", 1543569408, 1543569408},
    {"qwen2.5-14b", 14769192960, 14769192960},
    {"qwen2.5-7b", 7615283200, 7615283200},
    {"qwen3-0.6b", 595984384, 595984384},
    {"qwen3-1.7b-base", 1720451072, 1720451072},
    {"qwen3-1.7b", 1720451072, 1720451072},
    {"qwen3-14b-base", 14767882240, 14767882240},
    {"qwen3-14b", 14767882240, 14767882240},
    {"qwen3-235b-a22b", 235092836352, 22189965312},
    {"qwen3-30b-a3b-base", 30531911680, 3352821760},
    {"qwen3-30b-a3b", 30531911680, 3352821760},
    {"qwen3-32b", 32761446400, 32761446400},
    {"qwen3-480b-a35b", 480154091520, 35473981440},
    {"qwen3-4b-base", 4022272000, 4022272000},
    {"qwen3-4b-thinking-2507", 4022272000, 4022272000},
    {"qwen3-4b", 4022272000, 4022272000},
    {"qwen3-8b-base", 8190427136, 8190427136},
    {"qwen3-8b", 8190427136, 8190427136},
    {"qwen3-custom-30b-a3b", 30347886592, 3168796672},
    {"qwen3-next-80b-a3b", 79674179584, 3874717696},
    {"qwen3-omni-30b-a3b", 30532435968, 3353346048},
    {"qwen3-vl-2b", 1720451072, 1720451072},
    {"qwen3-vl-30b-a3b", 30531911680, 3352821760},
    {"qwen3-vl-4b", 4022272000, 4022272000},
    {"qwen3.5-35b-a3b", 34660433920, 3454812160},
    {"qwen3.5-397b-a17b", 396345835520, 17348526080},
};

TEST(ParameterCount, MatchesMaxText) {
  for (const auto& [name, total, active] : counts) {
    const Model model = load_model(name);
    EXPECT_EQ(matrix_parameters(model), total) << name;
    EXPECT_EQ(active_matrix_parameters(model), active) << name;
  }
}

TEST(ParameterCount, CoversEveryModelThatPlans) {
  std::vector<std::string> counted, modelled;
  for (const auto& row : counts) counted.emplace_back(row.model);
  for (const auto& name : model_names())
    if (load_model(name).not_modelled.empty()) modelled.push_back(name);
  EXPECT_THAT(counted, testing::UnorderedElementsAreArray(modelled));
}

struct PublishedTotal {
  const char* model;
  double billions;   ///< model cards and technical reports
  double tolerance;  ///< norms and biases, or the rounding of the published figure
};

TEST(ParameterCount, AgreesWithModelCards) {
  constexpr PublishedTotal totals[] = {
      {"llama2-7b", 6.74, 0.005},      {"llama3-8b", 8.03, 0.005},       {"llama3-70b", 70.55, 0.01},
      {"llama3.1-405b", 405.85, 0.02}, {"mistral-7b", 7.24, 0.005},      {"mixtral-8x7b", 46.70, 0.005},
      {"mixtral-8x22b", 140.62, 0.02}, {"deepseek2-16b", 15.7, 0.05},    {"deepseek2-236b", 235.7, 0.1},
      {"deepseek3-671b", 671.0, 0.05}, {"gpt-oss-120b", 116.8, 0.05},    {"gpt-oss-20b", 20.9, 0.05},
      {"qwen3-30b-a3b", 30.5, 0.05},   {"qwen3-235b-a22b", 235.1, 0.05}, {"gpt3-175b", 174.6, 0.5},
      {"qwen3-next-80b-a3b", 79.7, 0.05},
  };
  for (const auto& [name, billions, tolerance] : totals)
    EXPECT_NEAR(static_cast<double>(matrix_parameters(load_model(name))) / 1e9, billions, tolerance) << name;
}

TEST(ParameterCount, RefusesLayersItDoesNotKnow) {
  Model model = load_model("llama2-7b");
  model.not_modelled = "a layer that nobody wrote";
  EXPECT_THROW(matrix_parameters(model), InputError);
  EXPECT_THROW(active_matrix_parameters(model), InputError);
}

}  // namespace
}  // namespace shardplan
