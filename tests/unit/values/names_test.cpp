// Enumerators are spelled as MaxText and XLA spell them: scripts read these words.
#include <gtest/gtest.h>

#include <set>
#include <shardplan/collective/collective.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/program.hpp>

namespace shardplan {
namespace {

TEST(Names, OfCollectivesAndPhases) {
  EXPECT_EQ(name_of(CollectiveKind::all_gather), "all-gather");
  EXPECT_EQ(name_of(CollectiveKind::all_reduce), "all-reduce");
  EXPECT_EQ(name_of(CollectiveKind::reduce_scatter), "reduce-scatter");
  EXPECT_EQ(name_of(CollectiveKind::all_to_all), "all-to-all");
  EXPECT_EQ(name_of(CollectiveKind::ragged_all_to_all), "ragged-all-to-all");
  EXPECT_EQ(name_of(CollectiveKind::collective_permute), "collective-permute");
  EXPECT_EQ(name_of(Phase::forward), "forward");
  EXPECT_EQ(name_of(Phase::rematerialized_forward), "rematerialized_forward");
  EXPECT_EQ(name_of(Phase::backward), "backward");
  EXPECT_EQ(name_of(Phase::optimizer), "optimizer");
}

TEST(Names, OfPathsOptimizersAndSeverities) {
  EXPECT_EQ(name_of(MoePath::none), "none");
  EXPECT_EQ(name_of(MoePath::dropping), "dropping");
  EXPECT_EQ(name_of(MoePath::ragged), "ragged");
  EXPECT_EQ(name_of(MoePath::ring), "ring");
  EXPECT_EQ(name_of(StepProgram::train), "train");
  EXPECT_EQ(name_of(StepProgram::train_compile), "train_compile");
  EXPECT_EQ(name_of(OptimizerType::adamw), "adamw");
  EXPECT_EQ(name_of(OptimizerType::adam_pax), "adam_pax");
  EXPECT_EQ(name_of(OptimizerType::sgd), "sgd");
  EXPECT_EQ(name_of(OptimizerType::muon), "muon");
  EXPECT_EQ(name_of(Severity::note), "note");
  EXPECT_EQ(name_of(Severity::warning), "warning");
  EXPECT_EQ(name_of(Severity::error), "error");
}

struct DTypeRow {
  DType dtype;
  const char* name;
  std::int64_t bytes;
};

TEST(Names, OfDTypesWithTheirSizes) {
  for (const auto& [dtype, name, bytes] : {DTypeRow{DType::pred, "pred", 1},
                                           {DType::f8, "float8", 1},
                                           {DType::bf16, "bfloat16", 2},
                                           {DType::f16, "float16", 2},
                                           {DType::f32, "float32", 4},
                                           {DType::s32, "int32", 4},
                                           {DType::u32, "uint32", 4}}) {
    EXPECT_EQ(name_of(dtype), name);
    EXPECT_EQ(size_of(dtype), bytes) << name;
  }
}

TEST(Names, OfDimsAreDifferent) {
  std::set<std::string_view> all;
  for (int dim = 0; dim <= static_cast<int>(Dim::position); ++dim) all.insert(name_of(static_cast<Dim>(dim)));
  EXPECT_EQ(all.size(), static_cast<std::size_t>(Dim::position) + 1);
}

}  // namespace
}  // namespace shardplan
