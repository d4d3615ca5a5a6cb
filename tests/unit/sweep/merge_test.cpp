#include <gmock/gmock.h>

#include <planner/sweep/merge.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/sweep/rows.hpp>

namespace shardplan {
namespace {

SweepAnswer whole() {
  std::vector<SweepRow> rows;
  for (int chips = 1; chips <= 5; ++chips) rows.push_back(possible("a", "x", chips, plan_taking(1.0 / chips)));
  return answer_of(std::move(rows));
}

NamedSweep shard(std::size_t number, std::size_t count) {
  SweepAnswer answer = whole();
  answer.shard = {number, count};
  std::erase_if(answer.rows, [&](const SweepRow& row) { return !answer.shard.has(row.place); });
  return {std::to_string(number) + ".json", answer};
}

testing::Matcher<const std::function<SweepAnswer()>&> Refuses(const std::string& words) {
  return testing::ThrowsMessage<InputError>(testing::HasSubstr(words));
}

auto merging(std::vector<NamedSweep> shards) {
  return std::function<SweepAnswer()>([shards = std::move(shards)] { return merge(shards); });
}

TEST(SweepMerge, ShardsAreTheWhole) {
  for (std::size_t count = 1; count <= 6; ++count) {
    std::vector<NamedSweep> shards;
    for (std::size_t number = count; number >= 1; --number) shards.push_back(shard(number, count));
    const SweepAnswer merged = merge(shards);
    EXPECT_EQ(merged.rows, whole().rows) << count;
    EXPECT_EQ(merged.shard, Shard{});
    EXPECT_TRUE(is_complete(merged));
  }
}

TEST(SweepMerge, SaysWhichShardsAreMissing) {
  EXPECT_THAT(merging({shard(1, 3), shard(3, 3)}), Refuses("2 of 5 cells are missing: shards 2/3"));
  EXPECT_THAT(merging({shard(4, 4)}), Refuses("shards 1/4, 2/4, 3/4"));
}

TEST(SweepMerge, RefusesWhatDoesNotBelongTogether) {
  NamedSweep unfinished = shard(1, 2), other = shard(2, 2), disagreeing = shard(1, 1);
  unfinished.answer.rows.pop_back();
  other.answer.request[0].second = "4..8";
  disagreeing.answer.rows[0].plan->compute = {9};
  EXPECT_THAT(merging({unfinished, shard(2, 2)}), Refuses("1.json has 2 of its 3 cells"));
  EXPECT_THAT(merging({shard(1, 2), other}), Refuses("--chips is 4..16 in one, 4..8 in the other"));
  EXPECT_THAT(merging({shard(1, 2), shard(2, 2), disagreeing}), Refuses("another file says something else of"));
}

// A glob that matches the merged answer, too, or one that is given twice.
TEST(SweepMerge, RefusesACellThatIsThereAlready) {
  EXPECT_THAT(merging({shard(1, 2), shard(2, 2), shard(2, 2)}), Refuses("which 2.json has already: give each shard once"));
  EXPECT_THAT(merging({shard(1, 2), shard(1, 2)}), Refuses("1.json has a on 1 chip of x, which 1.json has already"));
  EXPECT_THAT(merging({shard(1, 1), shard(2, 2)}), Refuses("2.json has a on 2 chips of x, which 1.json has already"));
}

}  // namespace
}  // namespace shardplan
