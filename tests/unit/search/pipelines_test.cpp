// Pipelines in the search: which schedules there are, what is known of them before they are costed
// (planner/search/pipeline_bounds.hpp), and that what is recommended can be pasted.
#include <gmock/gmock.h>

#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <arguments/print_configuration.hpp>
#include <arguments/read_configuration.hpp>
#include <planner/search/explore/schedules.hpp>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <planner/search/space/remat_order.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

Mesh mesh_of(const SearchSpace& space, const std::string& text) {
  return parse_mesh(text, space.pipelined_sets.front()->mesh_axes);
}

TEST(Pipelines, SchedulesDivideTheLayers) {
  using Words = std::vector<std::string>;
  struct Row {
    const char *what, *model, *mesh;
    Words settings;
    std::vector<PipelineSchedule> expected;  // layers a stage, repeats, microbatches, gathered once
  };
  const Row rows[] = {
      {"no stages", "llama2-7b", "fsdp=8", {}, {{1, 1, 1, false}}},
      {"1, 2 and 4 repeats of 32 layers",
       "llama2-7b",
       "stage=2,tensor=4",
       {},
       {{16, 1, 2}, {16, 1, 4}, {16, 1, 8}, {8, 2, 2}, {8, 2, 4}, {8, 2, 8}, {4, 4, 2}, {4, 4, 4}, {4, 4, 8}}},
      {"26 of 27 layers", "deepseek2-16b", "stage=2", {}, {{13, 1, 2}, {13, 1, 4}, {13, 1, 8}}},
      {"weights once",
       "deepseek2-16b",
       "stage=2,fsdp=4",
       {"num_pipeline_microbatches=4"},
       {{13, 1, 4}, {13, 1, 4, true}}},
      {"layers a stage",
       "llama2-7b",
       "stage=8",
       {"num_layers_per_pipeline_stage=1"},
       {{1, 4, 8}, {1, 4, 16}, {1, 4, 32}}},
      {"delayed forwarding",
       "llama2-7b",
       "stage=8",
       {"pipeline_delay_activation_forwarding=true", "num_pipeline_repeats=2"},
       {{2, 2, 16, false, 2}, {2, 2, 32, false, 2}}},
      {"layers that don't divide", "llama2-7b", "stage=3", {}, {{1, -1, 3}}},
  };
  for (const auto& [what, model, mesh, settings, expected] : rows) {
    PlanRequest request = request_for(model, "toy-switch", 8);
    request = with_settings(request, settings);
    const SearchSpace space = space_of(request);
    EXPECT_EQ(pipeline_schedules(space, mesh_of(space, mesh)), expected) << what;
  }
}

TEST(Pipelines, BoundsHoldUnderTheCostModel) {
  const std::tuple<const char*, const char*, std::vector<std::string>> runs[] = {
      {"llama3-8b", "tpu-v5p", {}},
      {"llama3-8b", "tpu-v5p", {"pipeline_delay_activation_forwarding=true"}},
      {"mixtral-8x7b", "mi300x", {}},
      {"mixtral-8x7b", "tpu-7x", {}},
      {"deepseek2-16b", "tpu-v6e", {}}};
  int memory = 0, time = 0;
  for (const auto& [model, machine, settings] : runs) {
    PlanRequest request = with_settings(request_for(model, machine, 8), settings);
    request.rule_sets = rule_sets({"default", "pipeline-large-moe", "ep-as-cp"});
    request.remat_policies = named_remat_policies({"full", "minimal"});
    const SearchSpace space = space_of(request);
    const RematOrder order = remat_order(space, policies_with(space, 2));
    const auto list = enumerate_parallelisms(with_pipelines_only(space)).list;
    const auto cost = [&](const Parallelism& p, std::size_t remat, const BatchOption& batch) {
      return cost_of(evaluate(configuration_of(space, p, space.remat_policies[remat], batch)), space.required);
    };
    for (std::size_t i = 0; i < list.size(); i += 5)
      for (const Parallelism& other : list) {
        const Parallelism& p = list[i];
        const std::string where = std::string(model) + " " + describe(p.mesh);
        if (needs_no_more_memory(p, other) && ++memory) {
          const auto peak = [&](const Parallelism& of, std::int64_t microbatch) {
            const auto batch = per_device_batch(microbatch * of.schedule.microbatches, of.mesh.devices());
            const BatchOption option{*batch, of.batches.front().gradient_accumulation_steps};
            return static_cast<double>(cost(of, order.smallest.front(), option).peak);
          };
          const std::int64_t smallest = microbatch_of(other, other.batches.front());
          for (const std::int64_t microbatch : {smallest, 4 * smallest})
            EXPECT_LE(peak(p, microbatch), memory_slack * peak(other, microbatch))
                << where << " " << p.schedule.repeats << " x " << p.schedule.microbatches << ", "
                << other.schedule.repeats << " x " << other.schedule.microbatches;
        }
        if (share_time_bound(p, other) && ++time) {
          const std::size_t most = order.fastest.front();
          const auto fastest = fastest_schedule({&p, &other}, largest_microbatch({&p, &other}));
          ASSERT_TRUE(fastest) << where;
          const Parallelism& faster = fastest->index == 0 ? p : other;
          for (const Parallelism* slower : {&p, &other})
            EXPECT_LE(cost(faster, most, fastest->batch).falling_seconds,
                      1.0001 * cost(*slower, most, slower->batches.back()).seconds_per_token)
                << where << " " << p.schedule.microbatches << " " << other.schedule.microbatches;
        }
      }
  }
  EXPECT_GT(memory, 100);
  EXPECT_GT(time, 100);
}

// What bounds a family at once (planner/search/explore/family.cpp), within a third of time_slack: of weights that are
// gathered once the reductions hide less, and one microbatch a stage is in place without an exchange.
TEST(Pipelines, NoScheduleIsFasterThanTheBusiestWithItsBubble) {
  const std::tuple<const char*, const char*, int> runs[] = {
      {"llama3-8b", "tpu-v5p", 8},
      {"mixtral-8x7b", "mi300x", 8},
      {"mixtral-8x22b", "tpu-v5p", 16},
      {"llama2-7b", "h100", 16}};
  for (const auto& [model, machine, chips] : runs) {
    PlanRequest request = request_for(model, machine, chips);
    request.rule_sets = rule_sets({"default", "pipeline-large-moe", "ep-as-cp"});
    const SearchSpace space = space_of(request);
    const RematOrder order = remat_order(space, policies_with(space, 2));
    const auto list = enumerate_parallelisms(with_pipelines_only(space)).list;
    const auto run = [&](const Parallelism& p, const BatchOption& batch) {
      return evaluate(configuration_of(space, p, space.remat_policies[order.fastest.front()], batch));
    };
    std::size_t schedules = 0;
    for (std::size_t begin = 0, end = 0; begin < list.size(); begin = end) {
      std::vector<const Parallelism*> group;
      for (end = begin; end < list.size() && share_busy_bound(list[begin], list[end]); ++end) group.push_back(&list[end]);
      const auto busiest = busiest_schedule(group, largest_microbatch(group));
      if (group.size() == 1 || !busiest) continue;
      const Evaluation fast = run(*group[busiest->index], busiest->batch);
      for (const Parallelism* p : group) {
        ++schedules;
        const double other_bubble = bubble_ratio(*p, *group[busiest->index]) - 1;
        const double bound = (1 + other_bubble * (fast.time.bubble / fast.time.step())) / fast.tokens_per_second();
        EXPECT_LE(bound * run(*p, p->batches.back()).tokens_per_second(), 1.03)
            << model << " " << describe(p->mesh) << " " << p->schedule.repeats << " " << p->schedule.microbatches;
      }
    }
    EXPECT_GT(schedules, 50u) << model;
  }
}

// Of a sharding's schedules some have smallest batches of larger microbatches than others, whose sequences the logits split
// further: those take less a token than the smallest microbatches of all.
TEST(Pipelines, NoCandidateIsFasterThanItsSchedulesBounds) {
  int larger = 0, bounded = 0;
  for (const auto& [model, machine, chips] : {std::tuple{"mixtral-8x7b", "tpu-7x", 8}, {"llama3-8b", "h100", 16}}) {
    PlanRequest request = request_for(model, machine, chips);
    request.rule_sets = rule_sets({"default", "ep-as-cp"});
    const SearchSpace space = space_of(request);
    const auto list = enumerate_parallelisms(with_pipelines_only(space)).list;
    const RematOrder order = remat_order(space, policies_with(space, 2));
    std::vector<Exploration> explorations;
    explorations.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) explorations.emplace_back(space, list[i], i, order, Scope{});
    constexpr double never = std::numeric_limits<double>::infinity();
    for (const Family family : families_of(explorations)) {
      Runner runner(space, family.front().parallelism(), cost_model());
      bound_seconds(family, runner);
      bound_schedules(family, {{}, {never, never}, 0, 0}, runner);
      for (const Exploration& some : family) {
        const Parallelism& p = some.parallelism();
        if (!some.may_fit()) continue;
        std::vector<const Parallelism*> all;
        for (const Exploration& other : family) all.push_back(&other.parallelism());
        if (smallest_microbatch({&p}) > smallest_microbatch(all)) ++larger;
        for (const std::size_t remat : order.policies) {
          const Cost smallest = cost_of(runner.run(p, remat, p.batches.front()), space.required);
          if (!smallest.fits) continue;
          ++bounded;
          const Bar bar{{}, {smallest.seconds_per_token, smallest.seconds_per_token}, 0, 0};
          EXPECT_TRUE(some.smallest_reaches(bar) && some.reaches(bar))
              << describe(p.mesh) << " " << p.schedule.repeats << " x " << p.schedule.microbatches;
        }
      }
    }
  }
  EXPECT_GT(larger, 20);
  EXPECT_GT(bounded, 200);
}

TEST(Pipelines, DontOffload) {
  PlanRequest request = request_for("llama3-8b", "tpu-v5p", 8);
  request.mesh = parse_axis_sizes("stage=2");
  request.remat_policies = named_remat_policies({"full", "qkv_proj_offloaded", "minimal"});
  const SearchSpace space = space_of(request);  // full, qkv_proj_offloaded, minimal
  EXPECT_THAT(policies_with(space, 2), testing::ElementsAre(0, 2));
  EXPECT_THAT(policies_with(space, 1), testing::ElementsAre(0, 1, 2));
  request.remat_policies = named_remat_policies({"qkv_proj_offloaded"});
  const MachinePlan none = plan_machine(request, request.machines.front(), cost_model());
  EXPECT_FALSE(none.recommended);
}

TEST(Pipelines, ARecommendedOneCanBePasted) {
  PlanRequest request = request_for("llama3.1-70b", "tpu-v5p", 64);
  request.mesh = parse_axis_sizes("stage=4");
  request.rule_sets = rule_sets({"default", "pipeline-large-moe"});
  const MachinePlan plan = plan_machine(request, request.machines.front(), cost_model());
  ASSERT_TRUE(plan.recommended);
  const Evaluation& best = *plan.recommended;
  EXPECT_EQ(best.mesh.size_of("stage"), 4);
  EXPECT_FALSE(best.infeasible);
  std::vector<std::string> words;
  for (const auto& [key, value] : maxtext_arguments(*best.configuration)) words.push_back(key + "=" + value);
  EXPECT_THAT(words, Contains("ici_pipeline_parallelism=4"));
  const Configuration pasted = read_configuration(words, {}, std::nullopt);
  EXPECT_FALSE(first_violation(pasted));
  EXPECT_EQ(pasted.mesh, best.mesh);
  EXPECT_EQ(maxtext_arguments(pasted), maxtext_arguments(*best.configuration));
  EXPECT_EQ(cost_of(evaluate(pasted), {Certainty::sure, {}}), cost_of(best, {Certainty::sure, {}}));
}

TEST(Pipelines, PlansSayHowTheBestOneCompares) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  MachinePlan plan = plan_machine(request, request.machines.front(), evaluator_of(toy_evaluation));
  EXPECT_EQ(describe(plan.recommended->mesh), "fsdp=8");
  // 4 repeats, 8 microbatches, 2 stages: 1/32 of 8 s more in a step of 9.
  const auto is_pipeline = Field(&StrategyPlan::strategy, Strategy::pipeline);
  const auto row = std::find_if(plan.strategies.begin(), plan.strategies.end(),
                                [](const StrategyPlan& p) { return p.strategy == Strategy::pipeline; });
  ASSERT_NE(row, plan.strategies.end());
  EXPECT_EQ(describe(row->evaluation.mesh), "stage=2,fsdp=4");
  EXPECT_THAT(row->pipeline, HasSubstr("4 repeats of 4 layers a stage, 8 microbatches: bubble 2.7%"));
  EXPECT_NEAR(row->slower, 0.25 / 9, 1e-6);
  EXPECT_EQ(row->why, "2.8% of a step in the pipeline's bubble");
  request.mesh = parse_axis_sizes("stage=1");
  plan = plan_machine(request, request.machines.front(), evaluator_of(toy_evaluation));
  EXPECT_THAT(plan.strategies, Not(Contains(is_pipeline)));
}

TEST(Pipelines, WhatIsNotPlannedIsSaid) {
  const auto rejections_of = [](const PlanRequest& request) {
    return enumerate_parallelisms(space_of(request)).rejections.sorted();
  };
  PlanRequest mixed = request_for("gemma3-4b", "toy-switch", 8);
  EXPECT_THAT(rejections_of(mixed), Contains(Field(&RejectionCount::constraint, ConstraintId::pipeline_layers_differ)));
  mixed.mesh = parse_axis_sizes("stage=2");  // not where they are asked for either
  EXPECT_TRUE(enumerate_parallelisms(space_of(mixed)).list.empty());
  EXPECT_THAT(rejections_of(mixed), Contains(Field(&RejectionCount::constraint, ConstraintId::pipeline_layers_differ)));
  PlanRequest odd = request_for("llama2-7b", "toy-switch", 8);
  odd.mesh = parse_axis_sizes("stage=8");
  odd = with_settings(odd, {"num_layers_per_pipeline_stage=3"});
  EXPECT_THAT(rejections_of(odd), Contains(Field(&RejectionCount::constraint, ConstraintId::pipeline_layers)));
}

TEST(Pipelines, OptimizersAreSpreadOverDataWhereFsdpLeavesThemWhole) {
  struct Row {
    const char *optimizer, *mesh;
    std::vector<bool> expected;
  };
  const Row rows[] = {{"adamw", "data=8", {false, true}},
                      {"adamw", "data=4,fsdp=2", {false, true}},  // in two passes
                      {"adamw", "fsdp=8", {false}},
                      {"sgd", "data=8", {false}}};
  for (const auto& [optimizer, mesh, expected] : rows) {
    PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
    request.mesh = parse_axis_sizes(mesh);
    request = with_settings(request, {std::string("opt_type=") + optimizer});
    const SearchSpace space = space_of(request);
    std::vector<bool> found;
    for (const auto& p : enumerate_parallelisms(space).list) found.push_back(p.optimizer_over_data);
    EXPECT_EQ(found, expected) << optimizer << " " << mesh;
  }
}

}  // namespace
}  // namespace shardplan
