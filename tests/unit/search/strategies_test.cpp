#include <gmock/gmock.h>

#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/comparison.hpp>
#include <planner/search/plan_machine.hpp>
#include <planner/search/reasons.hpp>
#include <rules/load_rules.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> strategies_of(const std::string& mesh) {
  const Mesh parsed = parse_mesh(mesh, load_rules("default").mesh_axes);
  std::vector<std::string> names;
  for (const Strategy strategy : strategies)
    if (uses(parsed, strategy)) names.emplace_back(name_of(strategy));
  return names;
}

TEST(Strategies, AMeshUsesThoseOfItsAxes) {
  EXPECT_THAT(strategies_of("data=2,fsdp=4,fsdp_transpose=2"), ElementsAre("data·fsdp"));
  EXPECT_THAT(strategies_of(""), ElementsAre("data·fsdp"));
  EXPECT_THAT(strategies_of("fsdp=4,tensor_sequence=2"), ElementsAre("tensor"));
  EXPECT_THAT(strategies_of("stage=2,tensor=2,expert=2,context=2"),
              ElementsAre("tensor", "context", "expert", "pipeline"));
}

TEST(Strategies, AnExpertAxisWithoutExpertsSplitsNone) {
  Parallelism p;
  p.mesh = parse_mesh("fsdp=4,tensor=2,expert=2", load_rules("default").mesh_axes);
  p.moe_path = MoePath::none;
  EXPECT_TRUE(uses(p, Strategy::tensor));
  EXPECT_FALSE(uses(p, Strategy::expert));
  p.moe_path = MoePath::ragged;
  EXPECT_TRUE(uses(p, Strategy::expert));
}

/// 1000 tokens in a step of these parts.
Evaluation taking(double compute, double collectives, double host, double bubble) {
  Evaluation e;
  e.devices = 1;
  e.time.compute = {compute};
  e.time.exposed_collective = {collectives};
  e.time.exposed_host = {host};
  e.time.bubble = {bubble};
  e.time.tokens_per_second_per_device = 1000 / e.time.step().value;
  return e;
}

TEST(Comparison, NamesThePartThatLosesMost) {
  const Evaluation best = taking(8, 1, 1, 0);
  EXPECT_EQ(biggest_loss(best, taking(9, 1, 1, 0)), "10.0% of a step in compute");
  EXPECT_EQ(biggest_loss(best, taking(8, 3, 1, 1)), "20.0% of a step in exposed communication");
  EXPECT_EQ(biggest_loss(best, taking(7, 1, 2.5, 0)), "15.0% of a step in exposed host copies");
  EXPECT_EQ(biggest_loss(best, taking(8, 1, 1, 30)), "3.0 steps in the pipeline's bubble");
}

/// Llama-70B on 64 chips: FSDP hides its gathers; tensor parallelism waits for activations in every layer; a pipeline
/// pays a bubble.
TEST(Strategies, OfALargeModelFsdpIsTheFastest) {
  const PlanRequest request = request_for("llama3.1-70b", "tpu-v5p", 64);
  const MachinePlan plan = plan_machine(request, request.machines.front(), cost_model());
  std::vector<std::string> order;
  for (const auto& row : plan.strategies) {
    order.emplace_back(name_of(row.strategy));
    EXPECT_FALSE(row.evaluation.infeasible);
    EXPECT_NEAR(row.slower, slower_than(*plan.recommended, row.evaluation), 1e-12);
    EXPECT_EQ(row.pipeline.empty(), row.strategy != Strategy::pipeline);
  }
  EXPECT_THAT(order, ElementsAre("data·fsdp", "context", "tensor", "pipeline"));
  EXPECT_THAT(plan.strategies[0].why, IsEmpty());
  for (std::size_t i = 1; i < plan.strategies.size(); ++i) EXPECT_THAT(plan.strategies[i].why, HasSubstr("% of a step in "));
}

/// Finer batches are tried for the best of each, whatever its place, of the same runs whether the front is shown or not.
TEST(Strategies, TheBestOfEachHasAFinerBatchInEveryAnswer) {
  const struct {
    const char* model;
    Strategy strategy;
    const char* mesh;
    double batch;  ///< sequences a device: 8 and 12 are what a search tries first
  } rows[] = {{"deepseek2-16b", Strategy::context, "context=4", 11}, {"llama2-13b", Strategy::pipeline, "stage=4", 10}};
  for (const auto& [model, strategy, mesh, batch] : rows) {
    PlanRequest request = request_for(model, "tpu-v6e", 16);
    request.remat_policies = named_remat_policies(remat_policies());  // so many runs are faster than the best of each
    request.rule_sets = rule_sets({"default", "cp-as-ep", "ep-as-cp", "shard-exp-on-fsdp"});
    const auto best_of_it = [&](Beside beside) {
      request.beside = beside;
      for (StrategyPlan& plan : plan_machine(request, request.machines.front(), cost_model()).strategies)
        if (plan.strategy == strategy) return std::move(plan.evaluation);
      return Evaluation{};
    };
    const Evaluation in_text = best_of_it(Beside::alternatives), with_front = best_of_it(Beside::front);
    EXPECT_EQ(in_text.config.per_device_batch_size, batch) << model;
    EXPECT_EQ(describe(in_text.mesh), describe(with_front.mesh)) << model;
    EXPECT_EQ(in_text.config.per_device_batch_size, with_front.config.per_device_batch_size) << model;
    EXPECT_EQ(in_text.time.step(), with_front.time.step()) << model;
    request.mesh = parse_axis_sizes(mesh);
    const auto asked = plan_machine(request, request.machines.front(), cost_model()).recommended;
    EXPECT_EQ(in_text.time.tokens_per_second_per_device, asked->time.tokens_per_second_per_device) << model;
  }
}

TEST(Strategies, ThoseThatFitNowhereAreNamed) {
  const PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  MachinePlan plan = plan_machine(request, request.machines.front(), evaluator_of(toy_evaluation));
  const SearchSpace space = space_of(request);
  const auto parallelisms = enumerate_parallelisms(space).list;
  const Explored explored = explore(space, parallelisms, Scope{}, evaluator_of(toy_evaluation));
  EXPECT_THAT(reasons_for(plan, space, parallelisms, explored), Not(Contains(HasSubstr("fits"))));
  std::erase_if(plan.strategies, [](const StrategyPlan& p) { return p.strategy == Strategy::tensor; });
  EXPECT_THAT(reasons_for(plan, space, parallelisms, explored), Contains("no mesh with tensor parallelism fits"));
}

}  // namespace
}  // namespace shardplan
