// Habits against the recorded programs: what each is worth, and that compilers name records that show it.
#include <gmock/gmock.h>

#include <algorithm>
#include <compilers/load_compiler.hpp>
#include <planner/validate/ablate.hpp>
#include <set>

namespace shardplan {
namespace {

RecordedProgram record(const std::string& id) {
  for (auto& known : built_in_records())
    if (known.id == id) return known;
  throw std::logic_error("no record " + id);
}

const AblatedHabit& of(Habit habit, const std::vector<AblatedHabit>& all) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& ablated) { return ablated.habit == habit; });
}

TEST(Ablate, TellsWhatAHabitIsWorth) {
  const auto all = ablate({record("mx7_v5p8_ep8_sparse"), record("h100_ll7_fsdp8")});
  ASSERT_EQ(all.size(), all_habits().size());
  const AblatedHabit& twice = of(Habit::gathers_moe_layer_weights_twice, all);
  EXPECT_EQ(twice.programs, 1);  // XLA:GPU has it not
  ASSERT_EQ(twice.worse.size(), 1U);
  EXPECT_EQ(twice.worse.front().id, "mx7_v5p8_ep8_sparse");
  EXPECT_GT(effect(twice.worse.front()), 0.001);
  EXPECT_GT(twice.worse.front().without.collectives, twice.worse.front().with.collectives);
  EXPECT_TRUE(twice.better.empty());
}

TEST(Ablate, LeavesOutWhatHasNoPrediction) {
  RecordedProgram wrong = record("h100_ll7_fsdp8");
  wrong.arguments.push_back("model_nam=x");
  EXPECT_EQ(of(Habit::defers_head_gradient, ablate({wrong})).programs, 0);
}

/// The records that a compiler's file names are predicted worse without the habit; where no record is, none is named.
TEST(Ablate, EvidenceIsTrue) {
  const auto all = ablate(built_in_records());
  for (const auto& name : compiler_names()) {
    const DescribedCompiler described = describe_compiler(name);
    for (const auto& [habit, evidence] : described.evidence) {
      std::set<std::string> worse;
      for (const auto& ablated : of(habit, all).worse) worse.insert(ablated.id);
      for (const auto& id : evidence.records)
        EXPECT_TRUE(worse.contains(id)) << name << " " << name_of(habit) << " " << id;
      const bool is_toy = described.compiler.family == "none";
      if (described.compiler.has(habit) && !is_toy) {
        EXPECT_EQ(evidence.records.empty(), worse.empty()) << name << " " << name_of(habit);
      }
    }
  }
}

}  // namespace
}  // namespace shardplan
