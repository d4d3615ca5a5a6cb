#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <planner/search/finer_batches.hpp>
#include <planner/search/space/batch_options.hpp>
#include <planner/search/space/parallelism.hpp>
#include <planner/search/strategies.hpp>
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

// Two million sequences: only their divisors are looked at.
TEST(BatchOptions, GlobalTokensMayBeAnyNumber) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.settings.config.max_target_length = 1000;
  request.global_batch_tokens = 2'000'000'000;
  const auto options = batch_options(space_of(request), parse_mesh("fsdp=8", axes()), 8, 1);
  ASSERT_EQ(options.size(), 5U * 7U);  // 2^4 · 5^6 units of 8
  EXPECT_EQ(options.front(), (BatchOption{1, 250'000}));
  EXPECT_EQ(options.back(), (BatchOption{250'000, 1}));
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

// A limit that is none of the grid's is searched itself: 11 sequences on each of 8 devices.
TEST(Batches, AreUpToTheLargestThatAStepMayHave) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.max_batch_tokens = 11 * 8 * 2048;
  const SearchSpace space = space_of(request);
  const Parallelism fsdp = enumerate_parallelisms(space).list.front();
  EXPECT_EQ(fsdp.batches.back().per_device_batch_size, 11);
  EXPECT_EQ(fsdp.batches[fsdp.batches.size() - 2].per_device_batch_size, 8);
}

// 60 sequences take 2.17 s each, 48 of the grid 2.21: not worth the room.
TEST(FinerBatches, OnlyWhereTheyAreWorthIt) {
  EXPECT_EQ(plan_of_toy(73).recommended->config.per_device_batch_size, 48);
}

std::size_t batch_of_size(const Parallelism& p, double sequences) {
  const auto is_it = [&](const BatchOption& batch) { return batch.per_device_batch_size == sequences; };
  return static_cast<std::size_t>(std::find_if(p.batches.begin(), p.batches.end(), is_it) - p.batches.begin());
}

std::vector<double> fitting_batches(const Explored& explored, const std::vector<Parallelism>& all, std::size_t parallelism) {
  std::vector<double> sizes;
  for (const Candidate& c : explored.fitting)
    if (c.parallelism == parallelism) sizes.push_back(all[parallelism].batches[c.batch].per_device_batch_size);
  return sizes;
}

// More runs of data and fsdp are faster than are tried. What is costed for the front alone is not tried either: answers
// without it would differ.
TEST(FinerBatches, OfTheBestOfEachStrategyWhateverItsPlace) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.machines.front().hbm_capacity.value = 15 * gigabyte;  // 5 sequences fit; the search tries 4 and 6
  const SearchSpace space = space_of(request);
  const auto parallelisms = enumerate_parallelisms(space).list;
  Explored explored;
  std::optional<std::size_t> tensor, for_front;
  double seconds = 1;
  for (std::size_t i = 0; i < parallelisms.size(); ++i) {
    const Parallelism& p = parallelisms[i];
    for (std::size_t remat = 0; uses(p.mesh, Strategy::data_and_fsdp) && remat < space.remat_policies.size(); ++remat)
      explored.contenders.push_back({i, remat, p.batches.size() - 1, {.seconds_per_token = seconds *= 1.01, .fits = true}});
    if (describe(p.mesh) == "fsdp=4,tensor=2") tensor = i;
    if (describe(p.mesh) == "fsdp=2,tensor=4") for_front = i;
  }
  ASSERT_GT(explored.contenders.size(), 16U);
  ASSERT_TRUE(tensor && for_front);
  const auto slow = [&](std::size_t i) {
    return Candidate{i, 0, batch_of_size(parallelisms[i], 4), {.seconds_per_token = 1e9, .fits = true}};
  };
  explored.contenders.push_back(slow(*tensor));
  explored.fitting = explored.contenders;
  explored.fitting.push_back(slow(*for_front));
  for (const bool of_each : {false, true}) {
    Explored found = explored;
    auto all = parallelisms;
    try_finer_batches(space, all, found, {.best_of_strategies = of_each}, evaluator_of(toy_evaluation));
    EXPECT_EQ(fitting_batches(found, all, *tensor), of_each ? (std::vector<double>{4, 5}) : std::vector<double>{4});
    EXPECT_THAT(fitting_batches(found, all, *for_front), ElementsAre(4));
  }
}

// Twenty names of one layout, which are as fast, leave the next layout its place.
TEST(FinerBatches, OfWhatIsAlikeOneIsTried) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.machines.front().hbm_capacity.value = 15 * gigabyte;  // 5 sequences fit
  const SearchSpace space = space_of(request);
  const std::vector<Parallelism> meshes = enumerate_parallelisms(space).list;
  const auto mesh = std::find_if(meshes.begin(), meshes.end(),
                                 [](const Parallelism& p) { return describe(p.mesh) == "fsdp=4,tensor=2"; });
  ASSERT_NE(mesh, meshes.end());
  std::vector<Parallelism> all(21, *mesh);
  Explored explored;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double seconds = i < 20 ? 1e9 * (1 + 1e-5 * static_cast<double>(i)) : 1.01e9;
    explored.contenders.push_back({i, 0, batch_of_size(all[i], 4), {.seconds_per_token = seconds, .fits = true}});
  }
  explored.fitting = explored.contenders;
  try_finer_batches(space, all, explored, {}, evaluator_of(toy_evaluation));
  EXPECT_THAT(fitting_batches(explored, all, 0), ElementsAre(4, 5));
  EXPECT_THAT(fitting_batches(explored, all, 1), ElementsAre(4));
  EXPECT_THAT(fitting_batches(explored, all, 20), ElementsAre(4, 5));
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
