#include <gmock/gmock.h>

#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/parallelism.hpp>
#include <shardplan/error.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string>& axes() {
  static const auto names = space_of(request_for("llama2-7b", "toy-switch", 8)).rule_sets.front().mesh_axes;
  return names;
}

std::int64_t unit_of(const std::string& mesh) {
  const SearchSpace space = space_of(request_for("llama2-7b", "toy-switch", 8));
  return batch_unit(space.base.model, space.rule_sets.front(), parse_mesh(mesh, axes()), space.base.config);
}

TEST(BatchOptions, UnitIsWhatTheRulesSplitTheBatchOver) {
  EXPECT_EQ(unit_of("fsdp=8"), 8);
  EXPECT_EQ(unit_of("fsdp=4,tensor=2"), 4);
  EXPECT_EQ(unit_of("data=2,fsdp=2,context=2"), 4);
  EXPECT_EQ(unit_of("tensor=8"), 1);
}

TEST(BatchOptions, SearchedOnesAreMultiplesOfTheUnit) {
  const SearchSpace space = space_of(request_for("llama2-7b", "toy-switch", 8));
  const auto options = batch_options(space, parse_mesh("fsdp=4,tensor=2", axes()), 4, 1);
  ASSERT_GT(options.size(), 8u);
  std::vector<double> first;
  for (int i = 0; i < 8; ++i) first.push_back(options[i].per_device_batch_size);
  EXPECT_THAT(first, ElementsAre(0.5, 1, 1.5, 2, 3, 4, 6, 8));
  EXPECT_TRUE(std::is_sorted(options.begin(), options.end()));
}

TEST(BatchOptions, MaxTextTruncatesBackToTheSequencesMeant) {
  const SearchSpace space = space_of(request_for("llama2-7b", "toy-switch", 8));
  for (const int devices : {6, 12, 24, 48, 96, 192}) {
    const Mesh mesh = parse_mesh("fsdp=" + std::to_string(devices), axes());
    for (const auto& option : batch_options(space, mesh, 1, 1)) {
      const double sequences = devices * option.per_device_batch_size;
      EXPECT_EQ(sequences, std::floor(sequences)) << devices << " devices, " << option.per_device_batch_size;
    }
  }
}

TEST(BatchOptions, AFixedBatchIsTheOnlyOne) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.per_device_batch = 3;
  const SearchSpace space = space_of(request);
  EXPECT_THAT(batch_options(space, parse_mesh("fsdp=8", axes()), 8, 1), ElementsAre(BatchOption{3, 1}));
}

TEST(BatchOptions, GlobalTokensAreSplitIntoSteps) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.settings.config.max_target_length = 1000;
  request.global_batch_tokens = 32000;
  const SearchSpace space = space_of(request);
  EXPECT_THAT(batch_options(space, parse_mesh("fsdp=8", axes()), 8, 1),
              ElementsAre(BatchOption{1, 4}, BatchOption{2, 2}, BatchOption{4, 1}));
  EXPECT_THAT(batch_options(space, parse_mesh("fsdp=8", axes()), 64, 1),
              ElementsAre(BatchOption{4, 1}));  // for the message
}

TEST(BatchOptions, GlobalTokensAreSplitIntoTheStepsThatAreAskedFor) {
  PlanRequest request = with_settings(request_for("llama2-7b", "toy-switch", 8), {"gradient_accumulation_steps=2"});
  request.settings.config.max_target_length = 1000;
  request.global_batch_tokens = 32000;
  EXPECT_THAT(batch_options(space_of(request), parse_mesh("fsdp=8", axes()), 8, 2), ElementsAre(BatchOption{2, 2}));
  request.global_batch_tokens = 33000;
  EXPECT_THAT([&] { space_of(request); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr(
                  "gradient_accumulation_steps=2: --global-batch-tokens 33000 are 33 sequences, which so many passes can't "
                  "share; nearest: 32000 or 34000 tokens")));
}

/// With 80 GB of weights over 8 devices and a sequence of 1 GB (full): as many sequences as are left room for. A step takes
/// 10 s and 2 s a sequence.
MachinePlan plan_of_toy(double capacity_gigabytes, std::optional<double> asked = {}) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.remat_policies = named_remat_policies({"full"});
  request.machines.front().hbm_capacity.value = capacity_gigabytes * gigabyte;
  request.per_device_batch = asked;
  return plan_one(request, [](const Configuration& c) {
    Evaluation e = toy_evaluation(c);
    e.time.exposed_collective = {10};
    e.time.tokens_per_second_per_device =
        c.config.per_device_batch_size * static_cast<double>(c.config.max_target_length) / e.time.step().value;
    return e;
  });
}

TEST(FinerBatches, BetweenTheSearchedOnesTheLargestThatFits) {
  for (const auto& [capacity, batch] :
       {std::pair{14.0, 4.0}, {15.0, 5.0}, {16.0, 6.0}, {17.0, 7.0}, {20.0, 10.0}, {33.5, 22.0}})
    EXPECT_EQ(plan_of_toy(capacity).recommended->config.per_device_batch_size, batch) << capacity;
}

// 60 sequences take 2.17 s each, 48 of the grid 2.21: not worth the room.
TEST(FinerBatches, OnlyWhereTheyAreWorthIt) {
  EXPECT_EQ(plan_of_toy(73).recommended->config.per_device_batch_size, 48);
}

TEST(FinerBatches, AnAskedOneStays) {
  EXPECT_EQ(plan_of_toy(15, 4).recommended->config.per_device_batch_size, 4);
}

// A batch that MaxText refuses for itself says nothing of the others: float8's histories take one pass, three tiles of
// the vocabulary batches of three sequences.
TEST(BatchOptions, OneThatIsRefusedLeavesTheOthers) {
  const auto batches_of = [](const std::vector<std::string>& words, std::optional<std::int64_t> tokens) {
    PlanRequest request = request_for("llama2-7b", "h100", 8);
    request.mesh = parse_axis_sizes("fsdp=8");
    request.global_batch_tokens = tokens;
    const SearchSpace space = space_of(with_settings(std::move(request), words));
    const Parallelisms found = enumerate_parallelisms(space);
    return found.list.empty() ? std::vector<BatchOption>{} : found.list.front().batches;
  };
  EXPECT_THAT(batches_of({"quantization=fp8"}, 65'536), ElementsAre(BatchOption{4, 1}));
  EXPECT_THAT(batches_of({"num_vocab_tiling=3"}, std::nullopt).front(), (BatchOption{3, 1}));
  for (const BatchOption& batch : batches_of({"num_vocab_tiling=3"}, std::nullopt))
    EXPECT_EQ(std::fmod(batch.per_device_batch_size, 3), 0) << batch.per_device_batch_size;
}

}  // namespace
}  // namespace shardplan
