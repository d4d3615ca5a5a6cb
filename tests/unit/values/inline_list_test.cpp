#include <gmock/gmock.h>

#include <shardplan/inline_list.hpp>
#include <vector>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using List = InlineList<int, 4>;

TEST(InlineList, GrowsToItsRoomAndNoFurther) {
  List list{1, 2};
  list.push_back(3);
  list.push_back(4);
  EXPECT_THAT(list, ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(list.push_back(5), InternalError);
  EXPECT_THROW(list.resize(5), InternalError);
}

TEST(InlineList, InsertsInFrontOfAPlace) {
  List list{1, 4};
  const std::vector<int> middle = {2, 3};
  list.insert(list.begin() + 1, middle.begin(), middle.end());
  EXPECT_THAT(list, ElementsAre(1, 2, 3, 4));
  List one{2};
  one.insert(one.begin(), 1);
  EXPECT_THAT(one, ElementsAre(1, 2));
}

TEST(InlineList, ErasesKeepingOrder) {
  List list{1, 2, 3, 4};
  erase_if(list, [](int n) { return n % 2 == 0; });
  EXPECT_THAT(list, ElementsAre(1, 3));
  list.erase(list.begin(), list.end());
  EXPECT_THAT(list, IsEmpty());
}

// What was erased or cut off doesn't count, and new items are empty ones.
TEST(InlineList, ComparesWhatItHolds) {
  List a{1, 2, 9}, b{1, 2};
  EXPECT_NE(a, b);
  EXPECT_LT(b, a);
  a.resize(2);
  EXPECT_EQ(a, b);
  a.resize(3);
  EXPECT_THAT(a, ElementsAre(1, 2, 0));
  EXPECT_LT((List{1, 5}), (List{2}));
}

}  // namespace
}  // namespace shardplan
