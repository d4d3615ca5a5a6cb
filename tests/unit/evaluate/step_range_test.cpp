// What a step's time rests on: each end is the step of a run on the machine as it then would be.
#include <gmock/gmock.h>

#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/step_range.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

Configuration on_v6e() {
  return read("model_name=llama3.1-8b compile_topology=v6e-8 ici_fsdp_parallelism=8 per_device_batch_size=1 "
              "max_target_length=8192 remat_policy=full");
}

const AssumedStep* step_of(Assumption assumption, const std::vector<AssumedStep>& steps) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const AssumedStep& s) { return s.assumption == assumption; });
  return found == steps.end() ? nullptr : &*found;
}

TEST(StepRange, OfAFigureIsWhatTheMachineWouldTakeWithIt) {
  Configuration c = on_v6e();
  ASSERT_EQ(c.hardware.link_efficiency.basis, Basis::derived);
  const auto steps = assumed_steps(c, evaluate(c));
  const AssumedStep* links = step_of(Assumption::link_efficiency, steps);
  ASSERT_TRUE(links);
  Configuration slow = c, fast = c;
  slow.hardware.link_efficiency.value *= 0.9;
  fast.hardware.link_efficiency.value *= 1.1;
  EXPECT_EQ(links->high, evaluate(slow).time.step());
  EXPECT_EQ(links->low, evaluate(fast).time.step());
}

TEST(StepRange, OfOverlapIsAllAndNothing) {
  const Configuration c = on_v6e();
  const Evaluation now = evaluate(c);
  const auto steps = assumed_steps(c, now);
  const AssumedStep* overlap = step_of(Assumption::overlap, steps);
  ASSERT_TRUE(overlap);
  EXPECT_DOUBLE_EQ(overlap->low.value, (now.time.step() - now.time.exposed_collective).value);
  EXPECT_DOUBLE_EQ(overlap->high.value, (now.time.step() + now.time.hidden_collective).value);
}

TEST(StepRange, OfPublishedRunsIsTheProfiles) {
  Configuration c = on_v6e();
  const Evaluation now = evaluate(c);
  c.hardware.step_error = StepError{-0.1, 0.5, 3, "a test"};
  const auto steps = assumed_steps(c, now);
  EXPECT_EQ(steps.front().assumption, Assumption::published_runs) << "the widest";
  EXPECT_DOUBLE_EQ(steps.front().low.value, 0.9 * now.time.step().value);
  EXPECT_DOUBLE_EQ(steps.front().high.value, 1.5 * now.time.step().value);
}

TEST(StepRange, TakesWhatIsMeasuredAsItIs) {
  Configuration c = on_v6e();
  c.hardware.step_error.reset();
  for (Figure* figure : {&c.hardware.attention_efficiency, &c.hardware.link_efficiency, &c.hardware.hbm_efficiency,
                         &c.hardware.matmul_efficiency, &*c.hardware.collective_latency,
                         &c.hardware.scale_out_efficiency, &c.hardware.scale_out_latency})
    figure->basis = Basis::measured;
  if (c.hardware.host_link_bandwidth) c.hardware.host_link_bandwidth->basis = Basis::datasheet;
  for (const AssumedStep& step : assumed_steps(c, evaluate(c))) EXPECT_EQ(step.assumption, Assumption::overlap);
}

TEST(StepRange, SpansAllAssumptionsAndTheStepItself) {
  Evaluation e;
  EXPECT_FALSE(range_of(e));
  e.time.compute = Seconds{10};
  e.assumed = {{Assumption::overlap, Seconds{9}, Seconds{12}}, {Assumption::link_efficiency, Seconds{9.5}, Seconds{13}}};
  EXPECT_EQ(range_of(e)->low, Seconds{9});
  EXPECT_EQ(range_of(e)->high, Seconds{13});
}

}  // namespace
}  // namespace shardplan
