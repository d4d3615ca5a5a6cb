// What flags are worth to a run: the steps with and without them are those of runs that are asked for so.
#include <gmock/gmock.h>

#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <planner/fixes/weigh_flags.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

const std::string run = "model_name=llama3.1-8b compile_topology=v6e-8 ici_fsdp_parallelism=8 per_device_batch_size=1 "
                        "max_target_length=8192 remat_policy=full ";
const std::string vmem = "--xla_tpu_scoped_vmem_limit_kib=98304";

Configuration under(const std::string& flags) {
  return read(run + "compile_xla_flags=" + (flags.empty() ? "none" : flags));
}

const FlagWorth* worth_of(const std::string& flag, const std::vector<FlagWorth>& worths) {
  const auto found =
      std::find_if(worths.begin(), worths.end(), [&](const FlagWorth& w) { return print_flag(w.flag) == flag; });
  return found == worths.end() ? nullptr : &*found;
}

TEST(FlagWorths, OfWhatRecipesSetAreStepsOfRunsUnderIt) {
  const Configuration plain = under("");
  const Evaluation now = evaluate(plain);
  const auto worths = weigh_flags(plain, now);
  const FlagWorth* offered = worth_of(vmem, worths);
  ASSERT_TRUE(offered);
  EXPECT_FALSE(offered->given);
  EXPECT_FALSE(offered->source.empty());
  EXPECT_EQ(offered->step_without, now.time.step());
  EXPECT_EQ(offered->step_with, evaluate(under(vmem)).time.step());
  EXPECT_LT(offered->share(), -0.04) << "tiles of twice the size read less of HBM";
}

TEST(FlagWorths, OfGivenFlagsAreStepsOfRunsWithoutThem) {
  const Configuration flagged = under(vmem);
  const Evaluation now = evaluate(flagged);
  const auto worths = weigh_flags(flagged, now);
  const FlagWorth* given = worth_of(vmem, worths);
  ASSERT_TRUE(given);
  EXPECT_TRUE(given->given);
  EXPECT_EQ(given->step_with, now.time.step());
  EXPECT_EQ(given->step_without, evaluate(under("")).time.step());
}

// The routing of all tokens doesn't change: a flag is worth less of a step that is mostly that.
TEST(FlagWorths, AreOfStepsWithTheRoutingOfAllTokens) {
  const std::string dropping = "model_name=qwen3-30b-a3b compile_topology=v5p-16 per_device_batch_size=16 "
                               "ici_fsdp_parallelism=8 sparse_matmul=false capacity_factor=1.25 compile_xla_flags=";
  const Configuration flagged = read(dropping + vmem);
  const Evaluation now = evaluate(flagged);
  ASSERT_GT(now.time.all_token_routing.value, 0);
  const auto worths = weigh_flags(flagged, now);
  const FlagWorth* given = worth_of(vmem, worths);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->step_with, now.time.with_routing());
  EXPECT_EQ(given->step_without, evaluate(read(dropping + "none")).time.with_routing());
}

TEST(FlagWorths, AreShownOfOfferedFlagsOnlyWhereTheySpare) {
  const Configuration plain = under("");
  for (const FlagWorth& worth : weigh_flags(plain, evaluate(plain)))
    EXPECT_LE(worth.share(), -0.01) << print_flag(worth.flag);
}

// Without it XLA compiles another program, which isn't counted.
TEST(FlagWorths, OfTheProgramItselfIsNone) {
  const Configuration c = read("model_name=llama2-7b compile_topology=v5p-16");
  ASSERT_FALSE(c.compiler.has(Habit::multiplies_in_rings));
  const auto worths = weigh_flags(c, evaluate(c));
  EXPECT_EQ(worth_of("--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000", worths), nullptr);
  EXPECT_NE(worth_of(vmem, worths), nullptr);
}

}  // namespace
}  // namespace shardplan
