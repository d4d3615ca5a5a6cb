// No error-level finding where a MaxText engineer would see nothing wrong: the promise that lets `check` stand in CI.
#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <planner/check/check_cases.hpp>
#include <planner/check/check_request.hpp>
#include <shardplan/parallel_for.hpp>
#include <rules/load_rules.hpp>
#include <tests/unit/check/checking.hpp>

namespace shardplan {
namespace {

/// "MODEL on MESH: ids" for every configuration that MaxText accepts and that has an error.
std::vector<std::string> errors_of(const CheckRequest& request, const std::vector<Model>& models,
                                   bool (*is_expected)(const Configuration&, const Finding&)) {
  std::vector<std::vector<std::string>> of_model(models.size());
  parallel_for(models.size(), [&](std::size_t i) {
    for (const auto& configuration : check_cases(request, models[i])) {
      const Evaluation evaluation = check_configuration(configuration).evaluation;
      if (evaluation.infeasible && evaluation.infeasible->constraint != ConstraintId::hbm) continue;
      for (const auto& finding : evaluation.findings)
        if (finding.severity == Severity::error && !is_expected(configuration, finding))
          of_model[i].push_back(evaluation.model + " on " + describe(evaluation.mesh) + ": " +
                                std::string(published_id(finding)));
    }
  });
  std::vector<std::string> all;
  for (const auto& errors : of_model) all.insert(all.end(), errors.begin(), errors.end());
  return all;
}

std::vector<Model> models_that(bool (*suit)(const Model&)) {
  std::vector<Model> models;
  for (const auto& name : model_names())
    if (Model model = load_model(name); model.not_modelled.empty() && !model.rules.override_rules && suit(model))
      models.push_back(std::move(model));
  return models;
}

CheckRequest request_for(const std::string& rules, std::vector<std::string> arguments) {
  CheckWords words;
  words.rules = rules;
  words.key_values = std::move(arguments);
  return read_check(words);
}

bool nothing(const Configuration&, const Finding&) { return false; }

/// What MaxText's own start-up check refuses, over an axis that no weight rule of the set uses (pipeline-large-moe has
/// `context` in none) or that the set takes off some weights (ep-as-dp has `expert` on the experts' alone).
bool is_refused_by_maxtext(const Configuration&, const Finding& finding) {
  return finding.id == FindingId::weights_not_sharded;
}

/// The reconstructed ep-tp asks of MaxText's sparse experts what a proposal would have made them do.
bool needs_its_proposal(const Configuration& c, const Finding& finding) {
  return c.rules.name == "ep-tp" && finding.id == FindingId::expert_rows_returned_whole;
}

class EveryRuleSet : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Sets, EveryRuleSet, testing::ValuesIn(rule_set_names()), [](const auto& row) {
  std::string name = row.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryRuleSet, IsCleanOnDenseModels) {
  const auto dense = models_that([](const Model& model) { return !model.has_experts(); });
  const bool lacks_context = GetParam() == "pipeline-large-moe";
  EXPECT_THAT(errors_of(request_for(GetParam(), {}), dense, lacks_context ? is_refused_by_maxtext : nothing),
              testing::IsEmpty());
}

TEST_P(EveryRuleSet, IsCleanOnTheSparsePath) {
  const auto mixtures = models_that([](const Model& model) { return model.has_experts(); });
  const auto known = [](const Configuration& c, const Finding& finding) {
    return is_refused_by_maxtext(c, finding) || needs_its_proposal(c, finding);
  };
  EXPECT_THAT(errors_of(request_for(GetParam(), {"sparse_matmul=True"}), mixtures, known), testing::IsEmpty());
}

// The dropping path with an expert axis of size 1: nothing to steal.
TEST_P(EveryRuleSet, IsCleanWithoutAnExpertAxis) {
  const auto mixtures = models_that([](const Model& model) {
    return model.has_experts() && model.decoder_block.capacity == CapacityChoice::free;
  });
  const auto needs_experts = [](const Configuration& c, const Finding& finding) {
    return c.mesh.size_of("expert") > 1 || finding.id == FindingId::weights_not_sharded;
  };
  EXPECT_THAT(errors_of(request_for(GetParam(), {"sparse_matmul=False"}), mixtures, needs_experts), testing::IsEmpty());
}

// Sets that split what MaxText's check wants split are clean with all weights counted.
TEST(HealthyConfigurations, HaveTheirWeightsSharded) {
  const auto all = models_that([](const Model&) { return true; });
  for (const char* rules : {"default", "cp-as-ep", "pure-fsdp", "ep-tp"})
    EXPECT_THAT(errors_of(request_for(rules, {"sparse_matmul=True"}), all, needs_its_proposal), testing::IsEmpty())
        << rules;
}

// Decode-like batches: one sequence a device, or less.
TEST(HealthyConfigurations, StayCleanWithSmallBatches) {
  for (const char* batch : {"per_device_batch_size=1", "per_device_batch_size=0.25"})
    EXPECT_THAT(errors_of(request_for("default", {"sparse_matmul=True", batch}), models_that([](const Model& model) {
                            return model.decoder_block.kind == DecoderBlockKind::deepseek;
                          }),
                          nothing),
                testing::IsEmpty())
        << batch;
}

// With the flag on, the dispatch of every model keeps its experts, whatever the mesh.
TEST(HealthyConfigurations, StayCleanWithTheFlag) {
  const auto mixtures = models_that([](const Model& model) {
    return model.has_experts() && model.decoder_block.capacity == CapacityChoice::free;
  });
  EXPECT_THAT(errors_of(request_for("default", {"sparse_matmul=False", "moe_dispatch_no_expert_sharding=True"}),
                        mixtures, nothing),
              testing::IsEmpty());
}

}  // namespace
}  // namespace shardplan
