// Several machines in one answer.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <shardplan/error.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::HasSubstr;

// Machines share the time that is left, and of a machine's share half is left to cost what bounding found.
TEST(Machines, ALimitIsSharedOut) {
  using Clock = SearchBudget::Clock;
  constexpr auto hour = std::chrono::hours(1);
  const auto now = Clock::now();
  const SearchBudget two({Seconds{6 * 3600.0}, {}}, now - 2 * hour, 1);  // of 6 hours 2 are gone; another machine follows
  ASSERT_TRUE(two.half_time());
  EXPECT_GE(*two.half_time(), now + hour);
  EXPECT_LT(*two.half_time(), now + hour + std::chrono::minutes(10));
  EXPECT_FALSE(two.is_spent());
  EXPECT_TRUE(two.is_spent(now - hour));
  EXPECT_TRUE(SearchBudget({Seconds{3600}, {}}, now - 2 * hour, 0).is_spent());
  EXPECT_FALSE(SearchBudget({}, now - 2 * hour, 0).half_time());
}

TEST(Machines, MachinesThatCannotBePlannedSayWhy) {
  PlanRequest request = request_for("llama3-8b", "tpu-v5p", 6);
  EXPECT_THAT(plan_one(request).refused,
              HasSubstr("tpu-v5p has no slices that make 6 chips; nearest: 4 (1 slice) or 8 (1 slice)"));
  request.chips = 8;
  request.objective = Objective::cost;
  EXPECT_THAT(plan_one(request).refused, HasSubstr("no price to rank by"));
  request.objective = Objective::throughput;
  request.mesh = parse_axis_sizes("fsdp=16");
  EXPECT_THAT(plan_one(request).refused, HasSubstr("--mesh fsdp=16"));
}

TEST(Machines, BestMachineFirst) {
  PlanRequest request = request_for("llama3-8b", "toy-torus", 8);
  request.machines = {load_profile("toy-torus"), load_profile("toy-two-core"), load_profile("toy-switch")};
  request = with_settings(request, {});
  request.machines[0].hbm_capacity.value = 1;
  request.machines[1].name = "large";
  request.machines[1].hbm_capacity.value = 400e9;
  const PlanAnswer answer = plan_with(request, evaluator_of(toy_evaluation));
  std::vector<std::string> names;
  for (const auto& machine : answer.machines) names.push_back(machine.hardware);
  EXPECT_THAT(names, testing::ElementsAre("large", "toy-switch", "toy-torus"));
  EXPECT_TRUE(answer.machines[2].closest);
}

// Each row is the plan that the machine has alone, and so is all that the best one shows; what would fit is told of others.
TEST(Machines, BesideTheBestOneHaveTheirRow) {
  PlanRequest request = request_for("mixtral-8x7b", "mi355x", 8);
  request.machines = {load_profile("h100"), load_profile("mi355x"), load_profile("tpu7x")};
  request.beside = Beside::alternatives;
  request = with_settings(request, {});
  const PlanAnswer answer = plan(request);
  ASSERT_EQ(answer.machines.size(), 3u);
  for (const MachinePlan& machine : answer.machines) {
    const MachinePlan alone = plan_machine(request, load_profile(machine.hardware), cost_model());
    const bool is_best = &machine == &answer.machines.front();
    ASSERT_EQ(machine.recommended.has_value(), alone.recommended.has_value()) << machine.hardware;
    if (machine.recommended) {
      EXPECT_EQ(machine.recommended->time.step().value, alone.recommended->time.step().value) << machine.hardware;
      EXPECT_EQ(describe(machine.recommended->mesh), describe(alone.recommended->mesh)) << machine.hardware;
    }
    EXPECT_EQ(machine.alternatives.size(), is_best ? alone.alternatives.size() : 0);
    EXPECT_EQ(machine.reasons, is_best ? alone.reasons : std::vector<std::string>{});
    ASSERT_EQ(machine.would_fit.size(), alone.would_fit.size());
    for (std::size_t i = 0; i < machine.would_fit.size(); ++i)
      EXPECT_EQ(machine.would_fit[i].change, alone.would_fit[i].change);
  }
  EXPECT_TRUE(answer.machines.front().recommended && !answer.machines.front().alternatives.empty());
  EXPECT_FALSE(answer.machines.back().recommended) << "80 GB are too few";
  EXPECT_FALSE(answer.machines.back().would_fit.empty());
}

// Stages between slices and fsdp inside them, or the other way round: of one size, but v5p sums over whole slices otherwise.
// What is shown is costed anew, and would be an internal error if the search had seen it differently.
TEST(Machines, OfSeveralSlicesShowWhatTheSearchSaw) {
  PlanRequest request = request_for("llama2-13b", "tpu-v5p", 16);
  request.slices = 2;
  request.remat_policies = named_remat_policies(remat_policies());
  const PlanAnswer answer = plan(request);
  ASSERT_TRUE(answer.machines.front().recommended);
  EXPECT_EQ(answer.machines.front().recommended->slices, 2);
}

}  // namespace
}  // namespace shardplan
