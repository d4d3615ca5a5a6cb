#include <gmock/gmock.h>

#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <planner/report/words/at_most_words.hpp>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Markdown, TextIsNoMarkup) {
  EXPECT_EQ(markdown_text("a|b <c> *d* wi_0 _x_ `e`\nf"), "a\\|b \\<c\\> \\*d\\* wi_0 \\_x\\_ \\`e\\` f");
}

TEST(Markdown, CodeMayHaveBackticks) {
  EXPECT_EQ(markdown_code("expert=8"), "`expert=8`");
  EXPECT_EQ(markdown_code("a`b"), "`` a`b ``");
  EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
}

TEST(Markdown, AFenceIsLongerThanThoseInside) { EXPECT_EQ(markdown_block("```\n", "sh"), "````sh\n```\n````\n"); }

TEST(Markdown, TablesSayWhichColumnsAreNumbers) {
  EXPECT_EQ(markdown_table({{"a"}, {"b", true}}, {{"x", "1"}}), "| a | b |\n| --- | ---: |\n| x | 1 |\n");
  EXPECT_EQ(markdown_table({{"a"}}, {}), "");
}

TEST(Markdown, ARunHasItsVerdictFirst) {
  const std::string text = explanation_markdown(examples::fitting());
  EXPECT_THAT(text,
              testing::StartsWith("### mixtral-8x7b on 8 chips of tpu-v5p: fits\n\n`fsdp=2,expert=4` · default rules"));
  EXPECT_THAT(text, HasSubstr("| matrix products | 1.00 s | 50.0% |"));
  EXPECT_THAT(text, HasSubstr("- **warning** `expert-axis-stolen`"));
}

TEST(Markdown, SharesAreOfTheStepThatIsShown) {
  Evaluation run = examples::fitting();
  run.time.all_token_routing = {2.0};
  const std::string text = explanation_markdown(run);
  EXPECT_THAT(text, HasSubstr("| time of a step | 4.00 s | share |"));
  EXPECT_THAT(text, HasSubstr("| exposed collectives | 400 ms | 10.0% |"));
  EXPECT_THAT(text, HasSubstr("| routing of all tokens | 2.00 s | 50.0% |"));
}

TEST(Markdown, NamesOfMachinesAreNoMarkup) {
  const std::string name = "x<img>|`y`", shown = "x\\<img\\>\\|\\`y\\`";
  Evaluation run = examples::fitting();
  run.hardware = name;
  EXPECT_THAT(explanation_markdown(run), testing::StartsWith("### mixtral-8x7b on 8 chips of " + shown + ": fits"));
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::throughput, {}};
  plan.machines.emplace_back().hardware = name;
  plan.machines.emplace_back().hardware = name;
  plan.machines.back().recommended = run;
  EXPECT_THAT(plan_markdown(plan), Not(HasSubstr(name)));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("#### " + shown));
}

TEST(Markdown, APlanSaysWhereNothingFits) {
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::throughput, {}};
  plan.machines.emplace_back().hardware = "h100";
  plan.machines.front().refused = "no slice of 6 chips";
  EXPECT_THAT(plan_markdown(plan), testing::StartsWith("### mixtral-8x7b on 8 chips: nothing fits"));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| h100 | no: no slice of 6 chips |"));
}

TEST(Markdown, APlanSaysWhereWhatIsClosestMayFit) {
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::throughput, {}};
  MachinePlan& machine = plan.machines.emplace_back();
  machine.hardware = "tpu-v5p";
  Evaluation& closest = machine.closest.emplace(examples::fitting());
  closest.memory.low = closest.memory.capacity - Bytes{std::int64_t{2} << 30};
  closest.memory.high = closest.memory.capacity + Bytes{std::int64_t{2} << 30};
  closest.infeasible = Infeasible{ConstraintId::hbm, "needs a little more", 2, 1};
  EXPECT_THAT(plan_markdown(plan), testing::StartsWith("### mixtral-8x7b on 8 chips: marginal, nothing surely fits"));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| tpu-v5p | marginal: it may fit or not: "));
}

TEST(Markdown, APlanMarksRatesThatAreAtMostThose) {
  PlanAnswer plan{"gpt-oss-20b", 8, Objective::throughput, {}};
  MachinePlan& machine = plan.machines.emplace_back();
  machine.hardware = "mi355x";
  machine.recommended = examples::fitting();
  const std::string rate = print_number(machine.recommended->tokens_per_second_with_routing());
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| fits | " + rate + " |"));
  machine.recommended->findings.front().id = FindingId::bias_gradients_unpriced;
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| fits | \\< " + rate + " |"));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("\n`<` at most: the time that gradients of experts' biases take on mi355x"));
}

TEST(Markdown, AComparisonMarksThemToo) {
  CompareAnswer answer;
  answer.rows.resize(2);
  for (ComparedRow& row : answer.rows) row.evaluation = examples::fitting();
  answer.rows[0].evaluation.hardware = "mi355x";
  answer.rows[0].evaluation.findings.front().id = FindingId::bias_gradients_unpriced;
  const std::string text = compare_markdown(answer), rate = print_rate(answer.rows[1].evaluation);
  EXPECT_THAT(text, HasSubstr("| 1 | \\< " + rate + " |"));
  EXPECT_THAT(text, HasSubstr("| 2 | " + rate + " |"));
  EXPECT_THAT(text, HasSubstr("\n`<` at most: the time that gradients of experts' biases take on mi355x is"));
}

/// A step that is far too short looks sure without.
TEST(Markdown, ATimelineSaysWhatItIsNotSureOf) {
  AuditAnswer answer;
  ProgramTimeline timeline;
  timeline.timeline.unknown = {{"my_kernel", Seconds{0.25}}};
  timeline.timeline.uncounted_loops = {"while.1", "while.7"};
  answer.timeline = timeline;
  const std::string text = audit_markdown(answer);
  EXPECT_THAT(text, HasSubstr("- my_kernel is in no table of kernels: 250 ms for what it reads and writes\n"));
  EXPECT_THAT(text, HasSubstr("- counted once, for nothing says how often they run: while.1, while.7\n"));
}

TEST(Markdown, AnAuditWithoutAnythingToCompareWithSpeaksOfErrors) {
  AuditAnswer answer;
  answer.program = "step.hlo";
  answer.findings.resize(1);
  answer.findings.front().severity = Severity::error;
  EXPECT_THAT(audit_markdown(answer), testing::StartsWith("### `step.hlo`: **errors**"));
  answer.against = "the plan";
  EXPECT_THAT(audit_markdown(answer), testing::StartsWith("### `step.hlo`: **regression**"));
}

TEST(Markdown, APlanSaysWhereItsSearchWasStopped) {
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::throughput, {}};
  MachinePlan& machine = plan.machines.emplace_back();
  machine.hardware = "h100";
  machine.unfinished = Unfinished{false, 1203, 14473};
  const std::string warning = "- **warning** h100: stopped at --time-limit: 1,203 of 14,473 shardings";
  EXPECT_THAT(plan_markdown(plan), testing::StartsWith("### mixtral-8x7b on 8 chips: nothing found\n\n" + warning));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| h100 | no: nothing found before the search was stopped |"));
  machine.recommended = examples::fitting();
  EXPECT_THAT(plan_markdown(plan), testing::StartsWith("### mixtral-8x7b on 8 chips, fastest first\n\n" + warning));
}

TEST(Markdown, APlanSaysWhatItIsRankedByAndWhatItCosts) {
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::cost, {}};
  MachinePlan& machine = plan.machines.emplace_back();
  machine.hardware = "tpu-v5p";
  machine.recommended = examples::fitting();
  machine.dollars_per_million_tokens = 0.25;
  EXPECT_THAT(plan_markdown(plan), testing::StartsWith("### mixtral-8x7b on 8 chips, cheapest first\n"));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| machine | fits | $/M tokens | tokens/s |"));
  EXPECT_THAT(plan_markdown(plan), HasSubstr("| tpu-v5p | fits | 0.25 | "));
  plan.objective = Objective::memory;
  machine.dollars_per_million_tokens.reset();
  EXPECT_THAT(plan_markdown(plan), testing::StartsWith("### mixtral-8x7b on 8 chips, least memory first\n"));
  EXPECT_THAT(plan_markdown(plan), Not(HasSubstr("$/M")));
}

}  // namespace
}  // namespace shardplan
