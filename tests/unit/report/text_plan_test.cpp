#include <gmock/gmock.h>

#include <algorithm>
#include <planner/report/text/text_evaluation.hpp>
#include <planner/report/text/plan/text_plan.hpp>
#include <sstream>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

PlanAnswer answer_of(std::vector<MachinePlan> machines) {
  return {"mixtral-8x7b", 8, Objective::throughput, std::move(machines)};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(PlanText, HasARowAMachineAndTheBestInFull) {
  const std::string text =
      plan_text(answer_of({examples::machine_that_fits(), examples::machine_too_small(), examples::machine_refused()}),
                Style::plain());
  EXPECT_THAT(text, AllOf(HasSubstr("mixtral-8x7b on 8 chips, fastest first"), HasSubstr("tpu-v5p yes"),
                          HasSubstr("needs 80.0 GiB of 32.0 GiB at least (48.0 GiB too much)"),
                          HasSubstr("would fit with: --chips 32; or mu_dtype=bfloat16"),
                          HasSubstr("h100 has no slice of 6 chips")));
  EXPECT_THAT(text, AllOf(HasSubstr("best: tpu-v5p  (of 1,234 configurations, 56 fit)"),
                          HasSubstr("python3 -m maxtext.trainers.pre_train.train model_name=mixtral-8x7b"),
                          HasSubstr("2.00 s a step   32,768 tokens/s (4,096 a chip)   MFU 45.2%"),
                          HasSubstr("80.0 GiB (78.0 GiB to 82.0 GiB) of 95.0 GiB a device at the peak (loss)"),
                          HasSubstr("all-gather      fsdp         layers/MoeBlock_0: wi_0"),
                          HasSubstr("warning expert-axis-stolen"), HasSubstr("- gathers of expert weights"),
                          HasSubstr("next best")));
}

TEST(PlanText, NeverShowsHowLongTheSearchTook) {
  PlanAnswer slow = answer_of({examples::machine_that_fits()});
  slow.machines[0].search_seconds = 99;
  EXPECT_EQ(plan_text(slow, Style::plain()), plan_text(answer_of({examples::machine_that_fits()}), Style::plain()));
}

TEST(PlanText, SaysThatNothingFits) {
  const std::string text = plan_text(answer_of({examples::machine_too_small()}), Style::plain());
  EXPECT_THAT(text, AllOf(HasSubstr("nothing fits"), Not(HasSubstr("best:"))));
}

TEST(PlanText, FitsAScreenWhateverIsInIt) {
  MachinePlan machine = examples::machine_that_fits();
  Evaluation& best = *machine.recommended;
  best.remat = "save_dot_with_context_except_mlp";
  best.rules = "pipeline-large-moe";
  best.mesh.axes = {{"data", 16, 4}, {"stage", 4, 1}, {"fsdp", 128, 1}, {"tensor", 8, 1}, {"expert", 64, 1}};
  for (int i = 0; i < 40; ++i)
    examples::add(best, examples::collective(Phase::forward, CollectiveKind::all_gather, {0, 2, 3, 4}, 1 << 30, 61,
                                             "layers/module_" + std::to_string(i) + "/a_rather_long_operation_name", 0.1));
  for (int i = 0; i < 9; ++i) best.findings.push_back(best.findings.front());
  machine.alternatives.assign(3, best);
  for (const std::size_t width : {std::size_t{72}, std::size_t{80}, usual_width, most_width}) {
    const auto lines = lines_of(plan_text(answer_of(std::vector<MachinePlan>(5, machine)), Style::plain(width)));
    EXPECT_LE(lines.size(), width < usual_width ? 170U : 120U) << width;
    for (const auto& line : lines) EXPECT_LE(display_width(line), width) << line;
  }
}

/// A narrow screen wraps meshes and goes without columns, which it names.
TEST(PlanText, CutsNothingOff) {
  MachinePlan machine = examples::machine_that_fits();
  machine.recommended->mesh.axes = {{"data", 16, 4}, {"fsdp", 128, 1}, {"tensor", 8, 1}};
  const std::string text = plan_text(answer_of({machine}), Style::plain(least_width));
  EXPECT_THAT(text, AllOf(HasSubstr("(a wider screen also has:"), HasSubstr("data=64,"), Not(HasSubstr("…"))));
  EXPECT_THAT(plan_text(answer_of({machine}), Style::plain(most_width)), Not(HasSubstr("wider screen")));
}

TEST(PlanText, SaysWhatItIsSortedByAndWhatItCosts) {
  PlanAnswer answer = answer_of({examples::machine_that_fits()});
  answer.objective = Objective::cost;
  answer.machines[0].dollars_per_million_tokens = 0.25;
  EXPECT_THAT(plan_text(answer, Style::plain()),
              AllOf(HasSubstr("on 8 chips, cheapest first"), HasSubstr("$/M tokens"), HasSubstr("0.25")));
}

/// A search that was stopped doesn't know that nothing fits.
TEST(PlanText, SaysWhereASearchWasStopped) {
  MachinePlan machine;
  machine.hardware = "h100";
  machine.unfinished = Unfinished{false, 12, 40};
  EXPECT_THAT(plan_text(answer_of({machine}), Style::plain()),
              AllOf(HasSubstr("on 8 chips: nothing found\n"), Not(HasSubstr("nothing fits")),
                    HasSubstr("h100: stopped at --time-limit: 12 of 40 shardings were not costed to the end")));
}

TEST(PlanText, SaysOfWhatSurelyFitsThatItLeavesTooLittle) {
  MachinePlan machine = examples::machine_that_fits();
  machine.recommended->memory.reserved = examples::gib(20);
  EXPECT_THAT(plan_text(answer_of({machine}), Style::plain()),
              HasSubstr("fastest first: marginal, it fits, but leaves less free than asked\n"));
}

TEST(PlanText, PrintsTheCommandsOfAlternativesWhenAsked) {
  const PlanAnswer answer = answer_of({examples::machine_that_fits()});
  EXPECT_THAT(plan_text(answer, Style::plain()), Not(HasSubstr("to start the next best")));
  EXPECT_THAT(plan_text(answer, Style::plain(), {.commands = true}), HasSubstr("to start the next best\n"));
}

TEST(ExplanationText, GivesEveryCollectiveItsReason) {
  const std::string text = explanation_text(examples::fitting(), Style::plain());
  EXPECT_THAT(text, AllOf(HasSubstr("mixtral-8x7b on tpu-v5p, 8 chips  fits"), HasSubstr("layers/MoeBlock_0/wi_0"),
                          HasSubstr("layers/self_attention/query"), HasSubstr("the contracted dim is split over fsdp")));
}

TEST(ExplanationText, SaysSharesOfTheStepThatItShows) {
  Evaluation run = examples::fitting();
  run.time.all_token_routing = {2.0};
  const std::string text = explanation_text(run, Style::plain());
  EXPECT_THAT(text, AllOf(HasSubstr("4.00 s a step"), HasSubstr("exposed collectives 400 ms (10.0%)"),
                          HasSubstr("R routing of all tokens 2.00 s (50.0%)")));
}

TEST(ExplanationText, SaysWhyItDoesNotRun) {
  EXPECT_THAT(
      explanation_text(examples::too_large(), Style::plain()),
      AllOf(HasSubstr("hbm: 80.0 GiB needed, 32.0 GiB available (48.0 GiB too much)"), HasSubstr("48.0 GiB too much")));
}

TEST(Colours, ChangeNothingButColours) {
  std::string text = plan_text(answer_of({examples::machine_that_fits()}), Style::coloured());
  const std::string plain = plan_text(answer_of({examples::machine_that_fits()}), Style::plain());
  EXPECT_NE(text, plain);
  for (auto at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b'))
    text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, plain);
}

}  // namespace
}  // namespace shardplan
