#include <gmock/gmock.h>

#include <arguments/print_configuration.hpp>
#include <atomic>
#include <chrono>
#include <shardplan/error.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// What a plan decides, apart from how long it took.
std::string decisions(const MachinePlan& plan) {
  std::string text;
  const auto add = [&](const Evaluation& e) {
    for (const auto& [key, value] : maxtext_arguments(*e.configuration)) text += key + "=" + value + " ";
    text += "\n";
  };
  if (plan.recommended) add(*plan.recommended);
  for (const auto& e : plan.alternatives) add(e);
  for (const auto& e : plan.pareto) add(e);
  for (const auto& reason : plan.reasons) text += reason + "\n";
  for (const auto& r : plan.rejections)
    text += std::string(name_of(r.constraint)) + " " + std::to_string(r.candidates) + " " + r.example + "\n";
  return text + std::to_string(plan.evaluated) + " " + std::to_string(plan.fitting);
}

// 80 GB of weights on 8 devices leave 90 GB. minimal_with_context saves ten names: 11 GB and 1 s a sequence, so 8 of
// them; a token then takes (1/8 + 1) s / 2048.
TEST(Plan, RecommendsTheBestThatFits) {
  const MachinePlan plan = plan_one(request_for("llama3-8b", "toy-switch", 8));
  ASSERT_TRUE(plan.recommended);
  EXPECT_EQ(describe(plan.recommended->mesh), "fsdp=8");
  EXPECT_EQ(plan.recommended->remat, "minimal_with_context");
  EXPECT_EQ(plan.recommended->config.per_device_batch_size, 8);
  EXPECT_EQ(plan.recommended->memory.peak().value, 98 * gigabyte);
  EXPECT_THAT(maxtext_arguments(*plan.recommended->configuration),
              Contains(std::pair<std::string, std::string>("ici_fsdp_parallelism", "8")));
  EXPECT_GT(plan.evaluated, plan.fitting);
  EXPECT_THAT(plan.rejections, Contains(Field(&RejectionCount::constraint, ConstraintId::hbm)));
}

TEST(Plan, AlternativesDifferAndGetWorse) {
  const MachinePlan plan = plan_one(request_for("llama3-8b", "toy-switch", 8));
  ASSERT_EQ(plan.alternatives.size(), 3u);
  std::vector<std::string> meshes = {describe(plan.recommended->mesh)};
  double rate = plan.recommended->time.tokens_per_second_per_device;
  for (const auto& e : plan.alternatives) {
    EXPECT_THAT(meshes, Not(Contains(describe(e.mesh))));
    EXPECT_LE(e.time.tokens_per_second_per_device, rate * 1.001);
    meshes.push_back(describe(e.mesh));
    rate = e.time.tokens_per_second_per_device;
  }
}

TEST(Plan, FrontTradesTimeForMemory) {
  const MachinePlan plan = plan_one(request_for("llama3-8b", "toy-switch", 8));
  ASSERT_GT(plan.pareto.size(), 3u);
  for (std::size_t i = 1; i < plan.pareto.size(); ++i) {
    EXPECT_LT(plan.pareto[i].time.tokens_per_second_per_device, plan.pareto[i - 1].time.tokens_per_second_per_device);
    EXPECT_LT(plan.pareto[i].memory.peak(), plan.pareto[i - 1].memory.peak());
  }
}

TEST(Plan, IsTheSameEveryTime) {
  PlanRequest request = request_for("mixtral-8x7b", "toy-switch", 16);
  request.rule_sets = rule_sets({"default", "ep-as-cp", "shard-exp-on-fsdp"});
  const std::string first = decisions(plan_one(request));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(decisions(plan_one(request)), first);
}

TEST(Plan, ReasonsHaveNumbers) {
  const MachinePlan plan = plan_one(request_for("llama3-8b", "toy-switch", 8));
  ASSERT_GE(plan.reasons.size(), 3u);
  // 8 sequences of 1 s each, 1 s of communication.
  EXPECT_THAT(plan.reasons[0], HasSubstr("a step of 9 s is 89% compute and 11% exposed communication"));
  EXPECT_THAT(plan.reasons[1], HasSubstr("91.3 of 93.1 GiB"));  // 98 and 100 GB
  // fsdp=4,context=2: 0.05 s more.
  EXPECT_THAT(plan.reasons[2], HasSubstr("0.6% slower, 0.6% of a step in exposed communication"));
}

TEST(Plan, TheRequestFixesWhatItNames) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.mesh = parse_axis_sizes("tensor=2");
  request.per_device_batch = 2;
  request.remat_policies = named_remat_policies({"full"});
  request = with_settings(request, {"mu_dtype=bfloat16"});
  const MachinePlan plan = plan_one(request);
  ASSERT_TRUE(plan.recommended);
  EXPECT_EQ(describe(plan.recommended->mesh), "fsdp=4,tensor=2");
  EXPECT_EQ(plan.recommended->config.per_device_batch_size, 2);
  EXPECT_EQ(plan.recommended->remat, "full");
  EXPECT_EQ(plan.recommended->config.mu_dtype, DType::bf16);
}

TEST(Plan, GlobalTokensHoldForEveryPlan) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.settings.config.max_target_length = 1024;
  request.global_batch_tokens = 1024 * 512;
  const MachinePlan plan = plan_one(request);
  ASSERT_TRUE(plan.recommended);
  for (const auto& e : plan.pareto) {
    const double sequences =
        e.config.per_device_batch_size * 8 * static_cast<double>(e.config.gradient_accumulation_steps);
    EXPECT_EQ(sequences, 512);
  }
}

/// As toy_evaluation, and only what has its optimizer spread over data fits.
Evaluation fits_with_zero1(const Configuration& c) {
  Evaluation e = toy_evaluation(c);
  if (c.config.shard_optimizer_over_data) return e;
  e.memory.parameters = {1000 * gigabyte};
  e.memory.low = e.memory.high = e.memory.peak();
  e.infeasible = Infeasible{ConstraintId::hbm, "too large", e.memory.peak().value, e.memory.capacity.value};
  return e;
}

/// data=4,fsdp=2: ZeRO-1 comes before fsdp on dims of most weights, so it is planned in two passes unless they are given.
TEST(Plan, SaysWhyAStepHasTwoPasses) {
  struct Row {
    const char* mesh;
    std::vector<std::string> settings;
    std::int64_t passes;
    bool said;
  };
  const Row rows[] = {{"data=4,fsdp=2", {}, 2, true},
                      {"data=8", {}, 1, false},
                      {"data=4,fsdp=2", {"gradient_accumulation_steps=2"}, 2, false}};
  for (const auto& [mesh, settings, passes, said] : rows) {
    PlanRequest request = with_settings(request_for("llama2-7b", "toy-switch", 8), settings);
    request.mesh = parse_axis_sizes(mesh);
    const MachinePlan plan = plan_one(request, fits_with_zero1);
    ASSERT_TRUE(plan.recommended) << mesh;
    EXPECT_EQ(plan.recommended->config.gradient_accumulation_steps, passes) << mesh;
    const auto says_it = [](const std::string& reason) { return reason.starts_with("gradient_accumulation_steps=2: "); };
    EXPECT_EQ(std::any_of(plan.reasons.begin(), plan.reasons.end(), says_it), said) << mesh;
  }
}

TEST(Plan, BatchesEndWhereTheRequestSays) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  request.max_batch_tokens = 8 * 2 * request.settings.config.max_target_length;
  const MachinePlan plan = plan_one(request);
  ASSERT_TRUE(plan.recommended);
  EXPECT_EQ(plan.recommended->config.per_device_batch_size, 2);
  request.max_batch_tokens = request.settings.config.max_target_length;
  request.mesh = parse_axis_sizes("fsdp=8");
  const MachinePlan none = plan_one(request);
  EXPECT_FALSE(none.recommended);
  ASSERT_FALSE(none.rejections.empty());
  EXPECT_EQ(none.rejections.front().constraint, ConstraintId::batch_tokens);
}

TEST(Plan, SaysWhatChangesOfTheRecommendedRunAreWorth) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  const MachinePlan plan = plan_one(request);
  ASSERT_TRUE(plan.recommended);
  EXPECT_THAT(plan.what_ifs, Contains(Field(&WhatIf::kind, WhatIfKind::batch)));
  EXPECT_THAT(plan.what_ifs, Contains(Field(&WhatIf::kind, WhatIfKind::axes)));
  request.beside = Beside::nothing;
  EXPECT_TRUE(plan_one(request).what_ifs.empty());
}

// Without the front fewer candidates are costed, and the same are shown.
TEST(Plan, BesideAlternativesIsAllButTheFront) {
  PlanRequest request = request_for("mixtral-8x7b", "mi355x", 8);
  const MachinePlan whole = plan_machine(request, request.machines.front(), cost_model());
  request.beside = Beside::alternatives;
  const MachinePlan plan = plan_machine(request, request.machines.front(), cost_model());
  const auto shown = [](const Evaluation& e) {
    return fmt::format("{} {} {} {} {}", describe(e.mesh), e.rules, e.remat, e.global_batch_tokens, e.time.step().value);
  };
  EXPECT_FALSE(whole.pareto.empty());
  EXPECT_TRUE(plan.pareto.empty());
  EXPECT_LT(plan.evaluated, whole.evaluated);
  EXPECT_EQ(shown(*plan.recommended), shown(*whole.recommended));
  ASSERT_EQ(plan.alternatives.size(), whole.alternatives.size());
  for (std::size_t i = 0; i < plan.alternatives.size(); ++i)
    EXPECT_EQ(shown(plan.alternatives[i]), shown(whole.alternatives[i]));
  for (const Evaluation& shown_beside : plan.alternatives) EXPECT_TRUE(range_of(shown_beside)) << "of every one";
  ASSERT_EQ(plan.strategies.size(), whole.strategies.size());
  for (std::size_t i = 0; i < plan.strategies.size(); ++i)
    EXPECT_EQ(shown(plan.strategies[i].evaluation), shown(whole.strategies[i].evaluation));
  EXPECT_EQ(plan.what_ifs.size(), whole.what_ifs.size());
  EXPECT_EQ(plan.reasons, whole.reasons);
}

// A token takes (1/batch + 1) s / 2048 of the job, so that a step of 8 sequences takes 9 s.
TEST(Plan, LeavesOutLongerSteps) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  const MachinePlan free = plan_one(request);
  ASSERT_TRUE(free.recommended);
  const Seconds step = free.recommended->time.step();
  request.max_step = step * 0.99;
  const MachinePlan bounded = plan_one(request);
  ASSERT_TRUE(bounded.recommended);
  EXPECT_LE(bounded.recommended->time.step(), *request.max_step);
  EXPECT_LT(bounded.recommended->config.per_device_batch_size, free.recommended->config.per_device_batch_size);
  for (const auto& e : bounded.pareto) EXPECT_LE(e.time.step(), *request.max_step);
  EXPECT_THAT(bounded.rejections, Contains(Field(&RejectionCount::constraint, ConstraintId::step_seconds)));
  request.max_step = step;
  EXPECT_EQ(plan_one(request).recommended->config.per_device_batch_size,
            free.recommended->config.per_device_batch_size);
  request.max_step = step * 1e-6;
  const MachinePlan none = plan_one(request);
  EXPECT_FALSE(none.recommended);
  EXPECT_FALSE(none.closest) << "memory is not what is missing";
  ASSERT_FALSE(none.rejections.empty());
  EXPECT_EQ(none.rejections.front().constraint, ConstraintId::step_seconds);
  ASSERT_EQ(none.would_fit.size(), 1U);
  EXPECT_THAT(none.would_fit.front().change, StartsWith("--max-step-seconds "));
  ASSERT_TRUE(none.would_fit.front().evaluation);
  const Seconds offered{std::stod(none.would_fit.front().change.substr(19))};
  EXPECT_LE(none.would_fit.front().evaluation->time.step(), offered);
  request.max_step = offered * 0.98;
  EXPECT_FALSE(plan_one(request).recommended) << "it is the least";
}

TEST(Plan, ALimitEndsTheSearchAndSaysWhatWasLeft) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  EXPECT_FALSE(plan_one(request).unfinished);
  request.machines.front().hbm_capacity.value = 1e12;  // no mesh is known to be too large
  request.limits.time = Seconds{0};
  const MachinePlan none = plan_one(request);
  ASSERT_TRUE(none.unfinished);
  EXPECT_FALSE(none.unfinished->for_memory);
  EXPECT_EQ(none.unfinished->left, none.unfinished->of) << "no time to bound any";
  request.limits = {Seconds{1e6}, Bytes{1}};
  const MachinePlan large = plan_one(request);
  ASSERT_TRUE(large.unfinished);
  EXPECT_TRUE(large.unfinished->for_memory);
  request.machines = request_for("llama3-8b", "toy-switch", 8).machines;
  request.limits = {Seconds{1e6}, Bytes{1LL << 50}};
  EXPECT_EQ(decisions(plan_one(request)), decisions(plan_one(request_for("llama3-8b", "toy-switch", 8))));
}

TEST(Plan, TellsHowFarItIs) {
  bool bounding = false, costing = false;
  plan_one(request_for("llama3-8b", "toy-switch", 8), toy_evaluation, [&](const SearchProgress& progress) {
    EXPECT_EQ(progress.hardware, "toy-switch");
    EXPECT_LE(progress.done, progress.of);
    (progress.bounded ? costing : bounding) = true;
  });
  EXPECT_TRUE(bounding && costing);
}

// MaxText takes no other kernel with them: the search has to name it where the request doesn't.
TEST(Plan, NamesTheKernelThatMaskedKeysNeed) {
  for (const char* model : {"deepseek3.2-671b", "deepseek4-tiny"})
    EXPECT_EQ(space_of(request_for(model, "tpu-v5p", 256)).base.config.attention, AttentionKernel::flash) << model;
}

TEST(Plan, SizesMayBeRanges) {
  PlanRequest request = request_for("mixtral-8x7b", "toy-switch", 8);
  request.mesh = parse_axis_sizes("expert=2..4");
  const MachinePlan plan = plan_one(request);
  ASSERT_TRUE(plan.recommended);
  const auto in_range = [](const Evaluation& e) { return e.mesh.size_of("expert") >= 2 && e.mesh.size_of("expert") <= 4; };
  EXPECT_TRUE(in_range(*plan.recommended));
  for (const auto& e : plan.alternatives) EXPECT_TRUE(in_range(e)) << describe(e.mesh);
  request.mesh = parse_axis_sizes("expert=5..7");
  EXPECT_THAT(plan_one(request).refused, HasSubstr("--mesh expert=5..7 doesn't divide the 8 devices; it may be 1, 2, 4, 8"));
  request.mesh = parse_axis_sizes("expert=4..8,fsdp=4..8");
  EXPECT_THAT(plan_one(request).refused, HasSubstr("the smallest sizes multiply to 16, more than the 8 devices"));
}

TEST(Plan, AnAxisThatNoRuleSetHasIsAnError) {
  PlanRequest request = request_for("mixtral-8x7b", "toy-switch", 8);
  request.mesh = {{"exprt", 8, 8}};
  try {
    plan_one(request);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown axis 'exprt'; nearest: expert"));
  }
}

// What --rules, --mesh and KEY=VALUE say comes as values: nothing of it is looked up again under its name.
TEST(Plan, SearchesTheRulesThatItIsGiven) {
  PlanRequest request = request_for("llama3-8b", "toy-switch", 8);
  const MachinePlan usual = plan_one(request);
  request.rule_sets.front().name = "no file of this name";
  const MachinePlan renamed = plan_one(request);
  EXPECT_EQ(renamed.recommended->mesh, usual.recommended->mesh);
  EXPECT_EQ(renamed.recommended->time.step().value, usual.recommended->time.step().value);
  EXPECT_EQ(renamed.evaluated, usual.evaluated);
}

TEST(Plan, ASearchThatItsEvaluationContradictsIsAnInternalError) {
  std::atomic<int> calls = 0;
  const StandIn drifting = [&](const Configuration& c) {
    Evaluation e = toy_evaluation(c);
    e.memory.temporaries = {++calls};
    return e;
  };
  EXPECT_THROW(plan_one(request_for("llama3-8b", "toy-switch", 8), drifting), InternalError);
}

}  // namespace
}  // namespace shardplan
