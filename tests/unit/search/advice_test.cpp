// What a plan says to change: what would fit, and what would train faster if it were asked for.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/would_fit.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::Field;

// ep-as-dp keeps attention's weights whole along expert: 12% of gpt-oss-20b's, which MaxText's check refuses.
TEST(Plan, OffersToLeaveOutTheCheckOfWeights) {
  PlanRequest request = request_for("gpt-oss-20b", "tpu-v5p", 16);
  request.rule_sets = rule_sets({"ep-as-dp"});
  request.mesh = {{"expert", 4, 4}};
  const MachinePlan plan = costed(request);
  EXPECT_FALSE(plan.recommended);
  EXPECT_THAT(plan.would_fit, Contains(Field(&WouldFit::change, "sharding_tolerance=1")));
  request.settings.set(&TrainConfig::sharding_tolerance, 1.0);
  EXPECT_TRUE(costed(request).recommended);
}

// 512 chips are two slices of 16 x 16, along which no axis but one of 16 or 256 lies whole.
TEST(Plan, SaysWhatSplitAxesWouldSpare) {
  PlanRequest request = request_for("llama3.1-405b", "tpu-v6e", 512);
  request.beside = Beside::alternatives;
  const auto names_it = [](const MachinePlan& plan) {
    return std::any_of(plan.reasons.begin(), plan.reasons.end(), [](const std::string& reason) {
      return reason.starts_with("allow_split_physical_axes=true would make");
    });
  };
  const MachinePlan whole = costed(request);
  ASSERT_TRUE(whole.recommended);
  EXPECT_TRUE(names_it(whole));
  request.settings.set(&TrainConfig::allow_split_physical_axes, true);
  const MachinePlan split = costed(request);
  EXPECT_GT(split.recommended->tokens_per_second(), 1.05 * whole.recommended->tokens_per_second());
  EXPECT_FALSE(names_it(split));
}

// What no mesh mends, not that some have axes that the torus splits.
TEST(Plan, AdvisesToSplitTheTorusWhereThatHelps) {
  const auto first_reason = [](const PlanRequest& request) {
    const MachinePlan plan = plan_one(request);
    return plan.rejections.empty() ? std::nullopt : std::optional(plan.rejections.front().constraint);
  };
  PlanRequest stages = request_for("gemma3-4b", "toy-torus", 64);
  stages.mesh = parse_axis_sizes("stage=2");
  EXPECT_EQ(first_reason(stages), ConstraintId::pipeline_layers_differ);
  PlanRequest long_sequence = request_for("llama2-7b", "toy-torus", 64);
  long_sequence.max_batch_tokens = long_sequence.settings.config.max_target_length - 1;
  EXPECT_EQ(first_reason(long_sequence), ConstraintId::batch_tokens);
  PlanRequest halves = request_for("llama2-7b", "toy-torus", 64);
  halves.mesh = parse_axis_sizes("tensor=8,fsdp=8");
  EXPECT_EQ(first_reason(halves), ConstraintId::mesh_does_not_fit_torus);
}

/// Of 1 GB no mesh holds the model; half the weights' bytes, more chips and shorter sequences are not tried without time.
TEST(Plan, TriesWhatWouldFitWithinItsLimits) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.machines.front().hbm_capacity.value = 12e9;
  EXPECT_FALSE(plan_one(request).recommended);
  EXPECT_FALSE(plan_one(request).would_fit.empty());
  const HardwareProfile& machine = request.machines.front();
  const SearchBudget spent({Seconds{0}, {}}, SearchBudget::Clock::now(), 0);
  const Evaluation closest = *plan_one(request).closest;
  const WouldFits none = what_would_fit(request, machine, closest, {}, evaluator_of(toy_evaluation), spent);
  EXPECT_TRUE(none.found.empty());
  EXPECT_EQ(none.evaluated, 0);
}

TEST(Plan, CountsWhatWasTriedToFindWhatWouldFit) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.per_device_batch = 256;
  request.remat_policies = named_remat_policies({"full"});
  std::atomic<std::int64_t> memories = 0, costs = 0, most_devices = 0;
  Evaluator counting = evaluator_of(toy_evaluation);
  const auto counted = [&most_devices](std::atomic<std::int64_t>& calls) {
    return [&](const Configuration& c, PreparedMesh&) {
      ++calls;
      if (c.mesh.devices() > most_devices) most_devices = c.mesh.devices();
      return toy_evaluation(c);
    };
  };
  counting.memory = counted(memories);
  counting.cost = counted(costs);
  const MachinePlan plan = plan_with(request, counting).machines.front();
  EXPECT_GE(plan.evaluated, memories);
  EXPECT_LE(plan.evaluated, memories + costs);  // most of these were looked at before
  EXPECT_FALSE(plan.would_fit.empty());
  EXPECT_EQ(plan.fitting, 0);
  EXPECT_EQ(most_devices, 32) << "16 need as much beside the state as 32: so will 4,096";
}

}  // namespace
}  // namespace shardplan
