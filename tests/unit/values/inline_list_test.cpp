#include <gmock/gmock.h>

#include <shardplan/inline_list.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using List = InlineList<int, 4>;

TEST(InlineList, GrowsToItsRoomAndNoFurther) {
  List list{1, 2};
  list.push_back(3);
  list.push_back(4);
  EXPECT_THAT(list, ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(list.push_back(5), InternalError);
  EXPECT_THROW(list.resize(5), InternalError);
}

TEST(InlineList, TakesAnItemAnywhere) {
  List list{1, 3};
  list.insert(list.begin() + 1, 2);
  list.insert(list.end(), 4);
  EXPECT_THAT(list, ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(list.insert(list.begin(), 0), InternalError);
}

// What was cut off doesn't count, and new items are empty ones.
TEST(InlineList, ComparesWhatItHolds) {
  List a{1, 2, 9}, b{1, 2};
  EXPECT_NE(a, b);
  a.resize(2);
  EXPECT_EQ(a, b);
  a.resize(3);
  EXPECT_THAT(a, ElementsAre(1, 2, 0));
}

}  // namespace
}  // namespace shardplan
