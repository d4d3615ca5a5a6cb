// MaxText's own blocks of attention are remarked on where larger ones would take less of the step.
#include <gmock/gmock.h>

#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <planner/fixes/weigh_findings.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::Not;

/// llama3.1-8b over 8 chips of v6e.
std::optional<Finding> remark(const std::string& more) {
  const Configuration c =
      read("model_name=llama3.1-8b compile_topology=v6e-8 ici_fsdp_parallelism=8 per_device_batch_size=2 " + more);
  const auto findings = weigh_findings(c, evaluate_to_show(c)).findings;
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.id == FindingId::attention_in_small_blocks; });
  return found == findings.end() ? std::nullopt : std::optional(*found);
}

TEST(AttentionInSmallBlocks, IsSaidWithWhatLargerOnesSpare) {
  const auto said = remark("max_target_length=8192");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->severity, Severity::note);
  EXPECT_THAT(said->message, HasSubstr("gradients in two kernels"));
  EXPECT_THAT(said->fix, HasSubstr("sa_use_fused_bwd_kernel=true"));
  EXPECT_GT(said->cost->step.value, 0);
  EXPECT_EQ(said->cost->bytes.value, 0);
}

TEST(AttentionInSmallBlocks, OfTokamaxHaveOneKernelForGradients) {
  const auto said = remark("max_target_length=8192 use_tokamax_splash=true");
  ASSERT_TRUE(said);
  EXPECT_THAT(said->message, Not(HasSubstr("two kernels")));
  EXPECT_THAT(said->fix, Not(HasSubstr("sa_use_fused_bwd_kernel")));
}

TEST(AttentionInSmallBlocks, IsNotSaidWhereTheyWereChosenOrSpareNothing) {
  EXPECT_FALSE(remark("max_target_length=8192 sa_block_q=1024"));
  EXPECT_FALSE(remark("max_target_length=512"));
  EXPECT_FALSE(remark("max_target_length=8192 attention=dot_product"));
}

Seconds attention_of(const std::string& model, const std::string& more = "") {
  return evaluate(read("model_name=" + model + " compile_topology=v5p-512 ici_expert_parallelism=8 ici_fsdp_parallelism=32 "
                       "per_device_batch_size=1 max_target_length=16384 attention=flash use_tokamax_splash=true " + more))
      .time.parts.attention;
}

// The same heads; an indexer's selection leaves the kernel all causal blocks to visit, with a part of the mask to read in
// each, where a causal mask has its diagonal.
TEST(AttentionUnderAnIndexersMask, VisitsTheCausalBlocksAndMasksEach) {
  const Seconds causal = attention_of("deepseek3-671b"), masked = attention_of("deepseek3.2-671b");
  EXPECT_GT(masked.value, causal.value);
  EXPECT_LT(masked.value, 1.05 * causal.value);
  EXPECT_LT(attention_of("deepseek3.2-671b", "sa_block_q=2048 sa_block_kv=2048").value, masked.value);
}

}  // namespace
}  // namespace shardplan
