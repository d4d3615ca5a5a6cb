// Every weight of every model: against the shapes of MaxText's own train state (tests/data/models/refresh_parameters.py).
#include <gtest/gtest.h>

#include <formats/strict_json.hpp>
#include <models/load_model.hpp>
#include <models/parameter_count.hpp>
#include <set>

namespace shardplan {
namespace {

/// A file whose name MaxText does not take; one that wants a tokenizer (its record holds the compiler's argument bytes); and
/// models whose train state holds their towers.
const std::set<std::string> not_counted = {"llama3-405b", "deepseek-custom",  "qwen3-vl-2b",
                                           "qwen3-vl-4b", "qwen3-vl-30b-a3b", "qwen3-omni-30b-a3b"};

TEST(ParametersOfMaxText, AreThoseOfEveryModel) {
  const auto counted = parse_json(read_file(TEST_DATA "/models/parameters.json"), "parameters.json");
  for (const auto& name : model_names()) {
    const Model model = load_model(name);
    if (!model.not_modelled.empty() || not_counted.contains(name)) continue;
    ASSERT_TRUE(counted.contains(name)) << name;
    const double theirs = counted[name].get<double>();
    EXPECT_NEAR(static_cast<double>(parameters(model)) / theirs, 1, 1e-4) << name << ": " << theirs;
  }
}

}  // namespace
}  // namespace shardplan
