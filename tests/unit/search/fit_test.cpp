// What fits and how surely, and what would where nothing does.
#include <gmock/gmock.h>

#include <shardplan/error.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(Plan, WithoutRoomSaysWhatIsClosestAndWhatWouldFit) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.per_device_batch = 256;
  request.remat_policies = named_remat_policies({"full"});
  const MachinePlan plan = plan_one(request);
  EXPECT_FALSE(plan.recommended);
  ASSERT_TRUE(plan.closest);
  EXPECT_EQ(plan.closest->memory.peak().value, 266 * gigabyte);
  ASSERT_EQ(plan.would_fit.size(), 2u);  // so large a batch per device fits on no number of devices
  EXPECT_EQ(plan.would_fit[0].change, "--per-device-batch 64 gradient_accumulation_steps=4");
  ASSERT_TRUE(plan.would_fit[0].evaluation);
  EXPECT_FALSE(plan.would_fit[0].evaluation->infeasible);
}

// Of one pass: with a sequence more it doesn't fit.
TEST(Plan, OffersTheLargestBatchWhereAFixedOneIsTooLarge) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.per_device_batch = 256;
  request.remat_policies = named_remat_policies({"full"});
  const MachinePlan plan = plan_one(request);
  const std::string flag = "--per-device-batch ", change = plan.would_fit.back().change;
  ASSERT_TRUE(change.starts_with(flag)) << change;
  request.per_device_batch = std::stod(change.substr(flag.size()));
  EXPECT_TRUE(plan_one(request).recommended);
  *request.per_device_batch += 1;
  EXPECT_FALSE(plan_one(request).recommended);
}

// As many passes as it takes, down to one sequence a pass.
TEST(Plan, SplitsALargeFixedBatchIntoAsManyPassesAsItTakes) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.per_device_batch = 4096;
  request.remat_policies = named_remat_policies({"full"});
  const MachinePlan plan = plan_one(request);
  ASSERT_EQ(plan.would_fit.size(), 2u);
  EXPECT_EQ(plan.would_fit[0].change, "--per-device-batch 64 gradient_accumulation_steps=64");
}

// 2,048 sequences on 96 devices: no mesh of llama3's shares out a third of them, and no size of the memory helps.
TEST(Plan, OffersTheNearestBatchesThatDevicesCanShare) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 96);
  request.global_batch_tokens = 4 << 20;
  const MachinePlan plan = plan_one(request);
  EXPECT_FALSE(plan.recommended);
  EXPECT_FALSE(plan.closest);
  std::vector<std::string> changes;
  for (const WouldFit& way : plan.would_fit) changes.push_back(way.change);
  EXPECT_THAT(changes, ::testing::ElementsAre("--global-batch-tokens 4128768", "--global-batch-tokens 4325376"));
  request.global_batch_tokens = 4128768;
  EXPECT_TRUE(plan_one(request).recommended);
}

// 24 sequences on 8 devices, in two passes.
TEST(Plan, OffersTheNearestBatchesThatDevicesCanShareInSoManyPasses) {
  PlanRequest request = with_settings(request_for("llama3-8b", "toy-switch", 8), {"gradient_accumulation_steps=2"});
  request.mesh = parse_axis_sizes("fsdp=8");
  const std::int64_t length = request.settings.config.max_target_length;
  request.global_batch_tokens = 24 * length;
  const MachinePlan plan = plan_one(request);
  EXPECT_FALSE(plan.recommended);
  std::vector<std::string> changes;
  for (const WouldFit& way : plan.would_fit) changes.push_back(way.change);
  EXPECT_THAT(changes, ::testing::ElementsAre("--global-batch-tokens " + std::to_string(16 * length),
                                              "--global-batch-tokens " + std::to_string(32 * length)));
}

TEST(Plan, WouldFitOnMoreChipsOrWithNarrowerMoments) {
  PlanRequest request = request_for("llama3-8b", "toy-torus", 8);
  request = with_settings(request, {"max_target_length=1024"});
  request.model.name = "llama3-8b";
  const StandIn large = [](const Configuration& c) {  // 800 GB of weights in f32
    Evaluation e = toy_evaluation(c);
    e.memory.parameters = e.memory.parameters * 12;
    e.infeasible.reset();
    if (e.memory.peak() > e.memory.capacity) e.infeasible = Infeasible{ConstraintId::hbm, "too large", 1, 0};
    return e;
  };
  const MachinePlan plan = plan_one(request, large);
  EXPECT_FALSE(plan.recommended);
  std::vector<std::string> changes;
  for (const auto& would : plan.would_fit) changes.push_back(would.change);
  EXPECT_THAT(changes,
              testing::ElementsAre("first optimizer moment in bfloat16 (mu_dtype=bfloat16)",
                                   "weights and both moments in bfloat16 (weight_dtype=bfloat16)", "--chips 16"));
}

// adam_pax keeps no moment in mu_dtype: 6 bytes of each of 1.03 trillion parameters, and 2 of its gradient, are 129 GB of
// each of 64 devices; with 2 more it would be 161.
TEST(Plan, WouldFitWhereTheStateThatTheOptimizerKeepsDoes) {
  PlanRequest request = request_for("kimi-k2-1t", "toy-switch", 32);
  request = with_settings(request, {"opt_type=adam_pax", "weight_dtype=bfloat16", "mu_dtype=float32"});
  request.machines.front().hbm_capacity.value = 140e9;
  const StandIn on_64 = [](const Configuration& c) {
    Evaluation e = toy_evaluation(c);
    e.infeasible.reset();
    if (c.mesh.devices() < 64) e.infeasible = Infeasible{ConstraintId::hbm, "too large", 1, 0};
    return e;
  };
  const MachinePlan plan = plan_one(request, on_64);
  ASSERT_FALSE(plan.would_fit.empty());
  EXPECT_EQ(plan.would_fit.back().change, "--chips 64");
}

// With the optimizer's state on the host: 26 of 31 GiB where activations are there, too; 30 where layers make them again.
TEST(Plan, WouldFitUnderThePolicyThatNeedsLeast) {
  PlanRequest request = request_for("llama3.1-405b", "tpu-v6e", 256);
  request.remat_policies = named_remat_policies({"full", "minimal_offloaded"});
  const MachinePlan plan = plan_machine(request, request.machines.front(), cost_model());
  ASSERT_FALSE(plan.recommended);
  std::vector<std::string> changes;
  for (const auto& would : plan.would_fit) changes.push_back(would.change);
  EXPECT_THAT(changes, testing::Contains(testing::HasSubstr("optimizer_memory_host_offload=true")));
}

// A line of text has two of three changes, without their plans: fewer looks.
TEST(Plan, BesideAlternativesAreTheFirstChangesThatWouldFit) {
  for (PlanRequest request : {request_for("llama2-70b", "tpu-v5p", 8), request_for("mixtral-8x7b", "tpu-v5p", 8)}) {
    const MachinePlan whole = plan_machine(request, request.machines.front(), cost_model());
    request.beside = Beside::alternatives;
    const MachinePlan some = plan_machine(request, request.machines.front(), cost_model());
    ASSERT_FALSE(whole.recommended);
    ASSERT_GT(whole.would_fit.size(), 1u);
    ASSERT_EQ(some.would_fit.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(some.would_fit[i].change, whole.would_fit[i].change);
      EXPECT_TRUE(whole.would_fit[i].evaluation);
      EXPECT_FALSE(some.would_fit[i].evaluation);
    }
    EXPECT_EQ(some.closest->memory.peak(), whole.closest->memory.peak());
    EXPECT_LT(some.evaluated, whole.evaluated);
  }
}

// 24 devices have no mesh that fits, 16 do; where a size of the machine was asked for, none smaller is tried.
TEST(Plan, WouldFitOnTheNextSmallerSizeOfTheMachine) {
  const StandIn odd = [](const Configuration& c) {
    Evaluation e = toy_evaluation(c);
    if (c.mesh.devices() != 16) e.infeasible = Infeasible{ConstraintId::hbm, "too large", 1, 0};
    return e;
  };
  const auto changes_of = [&](int chips) {
    std::vector<std::string> changes;
    for (const auto& would : plan_one(request_for("llama3-8b", "toy-switch", chips), odd).would_fit)
      changes.push_back(would.change);
    return changes;
  };
  EXPECT_THAT(changes_of(24), Contains("--chips 16"));
  EXPECT_THAT(changes_of(32), testing::Not(Contains("--chips 16")));
}

/// toy_evaluation, keeping what the run reserves.
Evaluation reserving(const Configuration& c) {
  Evaluation e = toy_evaluation(c);
  e.memory.reserved = reserved_memory(e.memory.capacity, c.memory_limits.reserve);
  return e;
}

TEST(Plan, AReserveThatNothingKeepsIsNotDropped) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  ASSERT_TRUE(plan_one(request, reserving).recommended);
  request.memory_limits.reserve = {0.99, {}};
  const MachinePlan none = plan_one(request, reserving);
  EXPECT_FALSE(none.recommended);
  ASSERT_TRUE(none.closest && none.shortage());
  EXPECT_FALSE(none.closest->infeasible) << "within the memory, as explain says";
  EXPECT_EQ(none.shortage()->constraint, ConstraintId::hbm);
  EXPECT_EQ(none.shortage()->available, none.closest->memory.allowed().value);
  request.memory_limits.reserve = {1, {}};
  EXPECT_FALSE(plan_one(request, reserving).refused.empty());
}

/// toy_evaluation, off by up to a quarter.
Evaluation uncertain(const Configuration& c) {
  Evaluation e = toy_evaluation(c);
  e.memory.high = Bytes{e.memory.peak().value * 5 / 4};
  return e;
}

/// What is above the reserve alone surely fits.
TEST(Plan, SaysOfWhatSurelyFitsThatItMayLeaveLessFreeThanAsked) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.mesh = parse_axis_sizes("fsdp=8");
  request.memory_limits.reserve = {0.15, {}};
  const MachinePlan plan = plan_one(request, [](const Configuration& c) {
    Evaluation e = reserving(c);
    e.memory.high = Bytes{e.memory.peak().value * 5 / 4};
    return e;
  });
  ASSERT_TRUE(plan.marginal);
  EXPECT_THAT(plan.reasons, Contains(::testing::EndsWith(": it fits, but may leave less free than asked")));
}

TEST(Plan, RecommendsWhatSurelyFitsAndNamesWhatWouldBeFaster) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.mesh = parse_axis_sizes("fsdp=8");
  const MachinePlan sure = plan_one(request), careful = plan_one(request, uncertain);
  ASSERT_TRUE(sure.recommended && careful.recommended);
  EXPECT_FALSE(sure.marginal);
  EXPECT_EQ(careful.recommended->memory.fit(), Fit::fits);
  EXPECT_LT(careful.recommended->memory.peak(), sure.recommended->memory.peak());
  ASSERT_TRUE(careful.marginal);
  EXPECT_EQ(careful.marginal->memory.fit(), Fit::marginal);
  EXPECT_LT(careful.marginal->time.step().value / static_cast<double>(careful.marginal->config.per_device_batch_size),
            careful.recommended->time.step().value / static_cast<double>(careful.recommended->config.per_device_batch_size));
}

TEST(Plan, WithAReserveLessIsUsed) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  const MachinePlan all = plan_one(request, reserving);
  request.memory_limits.reserve = {0.5, {}};
  const MachinePlan half = plan_one(request, reserving);
  ASSERT_TRUE(all.recommended && half.recommended);
  EXPECT_LE(half.recommended->memory.peak().value * 2, half.recommended->memory.capacity.value);
  EXPECT_GT(all.recommended->memory.peak().value * 2, all.recommended->memory.capacity.value);
}

TEST(Plan, WhereNothingSurelyFitsTheMarginalPlanIsRecommended) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  const MachinePlan plan = plan_one(request, [](const Configuration& c) {
    Evaluation e = toy_evaluation(c);
    e.memory.high = e.memory.capacity + Bytes{1};
    return e;
  });
  ASSERT_TRUE(plan.recommended);
  EXPECT_EQ(plan.recommended->memory.fit(), Fit::marginal);
}

}  // namespace
}  // namespace shardplan
