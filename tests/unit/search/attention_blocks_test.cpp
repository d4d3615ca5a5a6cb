// Plans choose the blocks of splash attention, where nobody asked for some.
#include <gmock/gmock.h>

#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/program_cache.hpp>
#include <planner/search/space/parallelism.hpp>
#include <planner/search/space/pipeline_bounds.hpp>
#include <set>

#include "requests.hpp"

namespace shardplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using Choices = std::set<std::optional<SplashBlocks>>;

PlanRequest request_of(const std::string& machine, const std::vector<std::string>& words) {
  PlanRequest request = request_for("llama3.1-8b", machine, 8);
  request.mesh = parse_axis_sizes("fsdp=8");
  return with_settings(request, words);
}

Choices choices_of(const PlanRequest& request) {
  const SearchSpace space = space_of(request);
  Choices found;
  for (const Parallelism& p : enumerate_parallelisms(space).list) found.insert(p.attention_blocks);
  return found;
}

TEST(PlannedAttentionBlocks, AreTheFastestOfThoseThatLeaveFewPartialSums) {
  EXPECT_EQ(choices_of(request_of("tpu-v5p", {"max_target_length=2048"})), Choices{(SplashBlocks{1024, true})});
  EXPECT_EQ(choices_of(request_of("tpu-v5p", {"max_target_length=4096"})), Choices{(SplashBlocks{1024, true})});
}

// 8 partial sums of the queries' gradient, or none; tokamax has no second kernel.
TEST(PlannedAttentionBlocks, HaveTwoKernelsBesideOneWhereSumsAreMany) {
  EXPECT_EQ(choices_of(request_of("tpu-v5p", {"max_target_length=16384"})),
            (Choices{SplashBlocks{2048, true}, SplashBlocks{2048, false}}));
  EXPECT_EQ(choices_of(request_of("tpu-v5p", {"max_target_length=16384", "use_tokamax_splash=true"})),
            Choices{(SplashBlocks{2048, false})});
}

// They say how a kernel runs, not what the program is: ProgramCache has one for all.
TEST(PlannedAttentionBlocks, ShareAProgram) {
  PlanRequest request = request_of("tpu-v5p", {"max_target_length=16384"});
  const SearchSpace space = space_of(request);
  const auto all = enumerate_parallelisms(space).list;
  ASSERT_GT(all.size(), 1U);
  std::set<const CountedProgram*> programs;
  for (const Parallelism& p : all) {
    const Configuration c = configuration_of(space, p, space.remat_policies.front(), p.batches.front());
    programs.insert(space.programs->program_of(c).get());
    EXPECT_EQ(program_of(c), space.programs->program_of(c)->program) << describe_splash_blocks(c.config);
  }
  EXPECT_EQ(programs.size(), 1U);
}

// What the search lets one show of the other.
TEST(PlannedAttentionBlocks, OfOneKernelTakeNoLongerAndNeedNoLess) {
  PlanRequest request = request_of("tpu-v5p", {"max_target_length=32768"});
  request.mesh = {};
  const SearchSpace space = space_of(request);
  const auto all = enumerate_parallelisms(space).list;
  int pairs = 0;
  for (const Parallelism& one : all)
    for (const Parallelism& two : all) {
      if (!fuses_attention_of(one, two)) continue;
      ++pairs;
      EXPECT_TRUE(needs_no_more_memory(two, one));
      EXPECT_FALSE(needs_no_more_memory(one, two));
      for (const std::size_t batch : {std::size_t{0}, one.batches.size() / 2, one.batches.size() - 1})
        for (const RematPolicy& policy : space.remat_policies) {
          const auto costs = [&](const Parallelism& p) {
            return cost_of(evaluate(configuration_of(space, p, policy, p.batches[batch])), space.required);
          };
          const Cost fused = costs(one), apart = costs(two);
          EXPECT_LE(fused.seconds_per_token, apart.seconds_per_token) << describe(one.mesh);
          EXPECT_GE(fused.peak, apart.peak) << describe(one.mesh);
        }
    }
  EXPECT_GT(pairs, 10);
}

TEST(PlannedAttentionBlocks, AreWhatIsAskedFor) {
  const Choices none{std::nullopt};
  for (const char* word : {"sa_block_q=512", "sa_block_kv_dq=512", "sa_use_fused_bwd_kernel=false", "attention=dot_product"})
    EXPECT_EQ(choices_of(request_of("tpu-v5p", {"max_target_length=65536", word})), none) << word;
  EXPECT_EQ(choices_of(request_of("h100", {"max_target_length=65536"})), none);
}

// 2,048 positions over 4 devices are runs of 512, which blocks of 1,024 don't divide.
TEST(PlannedAttentionBlocks, DivideWhatADeviceHas) {
  PlanRequest request = request_of("tpu-v5p", {"max_target_length=2048"});
  request.mesh = parse_axis_sizes("fsdp=2,context=4");
  EXPECT_EQ(choices_of(request), Choices{(SplashBlocks{512, true})});
}

TEST(PlannedAttentionBlocks, AreAReason) {
  const MachinePlan plan = costed(request_of("tpu-v5p", {"max_target_length=8192"}));
  ASSERT_TRUE(plan.recommended);
  EXPECT_TRUE(plan.recommended->config.sa_use_fused_bwd_kernel);
  EXPECT_THAT(plan.reasons, Contains(AllOf(HasSubstr("attention in blocks of 1024, gradients in one kernel"),
                                           HasSubstr("blocks of 512, gradients in two kernels"))));
  const MachinePlan asked = costed(request_of("tpu-v5p", {"max_target_length=8192", "sa_block_q=512"}));
  EXPECT_THAT(asked.reasons, testing::Not(Contains(HasSubstr("gradients in one kernel"))));
  EXPECT_GT(plan.recommended->tokens_per_second(), asked.recommended->tokens_per_second());
}

}  // namespace
}  // namespace shardplan
