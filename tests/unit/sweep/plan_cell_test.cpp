#include <gmock/gmock.h>

#include <planner/evaluate/evaluate.hpp>
#include <planner/sweep/plan_cell.hpp>
#include <tests/unit/search/requests.hpp>

namespace shardplan {
namespace {

SweepRow row_of(const PlanRequest& request, int chips, const Evaluator& evaluate, const SweepGoal& goal = {}) {
  const HardwareProfile& machine = request.machines.front();
  return plan_cell({&request, &machine, {request.model.name, machine.name, chips}}, 3, goal, evaluate);
}

/// The toy model of costs: 80 GB of weights, 1 s + 2 s a sequence of 2,048 tokens.
TEST(SweepCell, HasThePlanAndWhatTrainingTakes) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 1);
  request.machines[0].price_per_chip_hour = Figure{2, "USD/h", "here", Basis::assumed};
  request.machines[0].power_per_chip = Figure{500, "W", "here", Basis::assumed};
  const SweepRow row = row_of(request, 8, evaluator_of(toy_evaluation), {1'000'000'000, {}});
  ASSERT_TRUE(row.plan);
  EXPECT_EQ(row.place, 3);
  ASSERT_TRUE(row.budget);
  EXPECT_DOUBLE_EQ(row.budget->duration.value, 1e9 / row.plan->tokens_per_second);
  EXPECT_DOUBLE_EQ(row.budget->chip_hours, row.budget->duration.value * 8 / 3600);
  EXPECT_DOUBLE_EQ(*row.budget->dollars, 2 * row.budget->chip_hours);
  EXPECT_DOUBLE_EQ(*row.budget->kilowatt_hours, 0.5 * row.budget->chip_hours);
  EXPECT_FALSE(row_of(request, 8, evaluator_of(toy_evaluation)).budget) << "without tokens nothing is taken";
}

TEST(SweepCell, WithoutAPlanSaysWhy) {
  const PlanRequest request = request_for("llama2-7b", "toy-switch", 1);
  const SweepRow no_slice = row_of(request, 6, evaluator_of(toy_evaluation));
  EXPECT_FALSE(no_slice.plan);
  EXPECT_EQ(no_slice.limit, Limit::slices);
  EXPECT_THAT(no_slice.reason, testing::HasSubstr("nearest: 4 or 8"));
  const SweepRow too_large = row_of(request_for("mixtral-8x7b", "toy-switch", 1), 1, cost_model());
  EXPECT_EQ(too_large.limit, Limit::memory);
  EXPECT_THAT(too_large.reason, testing::HasSubstr("of 93.1 GiB a device at least"));
  // One chip has 100 GB of the 101 GB that it needs, expected between 98 and 104.
  const auto close = [](const Configuration& c) {
    Evaluation e = toy_evaluation(c);
    e.memory.parameters = {101 * gigabyte - e.memory.activations.value};
    e.memory.low = {98 * gigabyte};
    e.memory.high = {104 * gigabyte};
    e.infeasible = Infeasible{ConstraintId::hbm, "too large", 101 * gigabyte, 100 * gigabyte};
    return e;
  };
  const SweepRow marginal = row_of(request, 1, evaluator_of(close));
  EXPECT_EQ(marginal.limit, Limit::memory);
  EXPECT_EQ(marginal.reason, "not expected to fit, though it may: needs 91.3 to 96.9 of 93.1 GiB a device, with 1 device");
}

// The batch could grow, and a token would take less time.
TEST(SweepCell, SaysWhereTheLengthOfAStepLimits) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  const SweepRow open = row_of(request, 8, evaluator_of(toy_evaluation));
  ASSERT_TRUE(open.plan);
  EXPECT_NE(open.limit, Limit::step);
  request.max_step = open.plan->step();
  EXPECT_EQ(row_of(request, 8, evaluator_of(toy_evaluation)).limit, open.limit) << "it allows the best";
  request.max_step = open.plan->step() * 0.5;
  const SweepRow bounded = row_of(request, 8, evaluator_of(toy_evaluation));
  ASSERT_TRUE(bounded.plan);
  EXPECT_LT(bounded.plan->tokens_per_second, open.plan->tokens_per_second);
  EXPECT_EQ(bounded.limit, Limit::step);
  request.max_step = Seconds{1e-3};
  const SweepRow none = row_of(request, 8, evaluator_of(toy_evaluation));
  EXPECT_FALSE(none.plan);
  EXPECT_EQ(none.limit, Limit::step);
  EXPECT_THAT(none.reason, testing::HasSubstr("1 ms asked for at most"));
}

// What is left out of the search for the best alone doesn't change the best.
TEST(SweepCell, IsWhatPlanRecommends) {
  for (const int chips : {2, 16}) {
    PlanRequest request = request_for("llama2-7b", "toy-torus", chips);
    request.remat_policies = named_remat_policies({"full"});
    const MachinePlan plan = plan_machine(request, request.machines.front(), cost_model());
    const SweepRow row = row_of(request, chips, cost_model());
    ASSERT_TRUE(plan.recommended && row.plan) << chips;
    EXPECT_EQ(describe_mesh(*row.plan), describe(plan.recommended->mesh)) << chips;
    EXPECT_EQ(row.plan->remat, plan.recommended->remat);
    EXPECT_EQ(row.plan->step(), plan.recommended->time.step());
  }
}

}  // namespace
}  // namespace shardplan
