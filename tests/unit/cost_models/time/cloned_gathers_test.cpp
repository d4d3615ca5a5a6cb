// What is gathered again for want of memory.
#include <gmock/gmock.h>

#include <cost_models/memory/compiler_budget.hpp>
#include <cost_models/time/cloned_gathers.hpp>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;

/// 80 GB, 20 of them arguments: a budget of 57 for the rest.
MemoryUse needing(std::int64_t rest) {
  MemoryUse memory;
  memory.capacity = {80 * gigabyte};
  memory.parameters = {20 * gigabyte};
  memory.activations = {rest * gigabyte};
  return memory;
}

Compiler budgeted(bool combines) {
  Compiler compiler = with(toy_gpu(), Habit::budgets_temporaries);
  if (combines) compiler.settings[CompilerSetting::all_gather_combine_threshold] = Bytes{1000000000};
  return compiler;
}

TEST(CompilerBudget, IsAShareOfWhatTheArgumentsLeave) {
  EXPECT_FALSE(exceeded_budget(needing(57), budgeted(false)));
  const auto exceeded = exceeded_budget(needing(58), budgeted(false));
  ASSERT_TRUE(exceeded);
  EXPECT_EQ(exceeded->budget.value, 57 * gigabyte);
  EXPECT_EQ(exceeded->needed.value, 58 * gigabyte);
  EXPECT_FALSE(exceeded_budget(needing(58), toy_gpu())) << "a compiler without";
}

Collective weight(CollectiveKind kind, Phase phase) {
  Collective collective;
  collective.kind = kind;
  collective.phase = phase;
  collective.parameter = true;
  collective.executions = 64;
  collective.seconds = {0.02};
  return collective;
}

struct CloneRow {
  std::int64_t rest;
  bool combines;
  std::int64_t executions;  ///< of the backward pass' gather
};

TEST(ClonedGathers, AreThoseOfTheBackwardPassIfCombinedAndOverTheBudget) {
  for (const auto& row : {CloneRow{58, true, 128}, CloneRow{57, true, 64}, CloneRow{58, false, 64}}) {
    std::vector<Collective> all = {weight(CollectiveKind::all_gather, Phase::rematerialized_forward),
                                   weight(CollectiveKind::all_gather, Phase::forward),
                                   weight(CollectiveKind::reduce_scatter, Phase::backward)};
    clone_combined_gathers(all, needing(row.rest), budgeted(row.combines));
    EXPECT_EQ(all[0].executions, row.executions) << row.rest;
    EXPECT_DOUBLE_EQ(all[0].seconds.value, 0.02 * static_cast<double>(row.executions) / 64);
    EXPECT_EQ(all[1].executions, 64) << "the forward pass' gather";
    EXPECT_EQ(all[2].executions, 64) << "a reduction";
  }
}

}  // namespace
}  // namespace shardplan
