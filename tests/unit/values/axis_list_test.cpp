#include <gmock/gmock.h>

#include <algorithm>
#include <rapidcheck/gtest.h>
#include <shardplan/mesh/axis_list.hpp>
#include <vector>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<AxisId> items(const AxisList& list) { return {list.begin(), list.end()}; }

AxisList list_of(const std::vector<AxisId>& axes) { return {axes.begin(), axes.end()}; }

rc::Gen<std::vector<AxisId>> some_axes() {
  return rc::gen::resize(static_cast<int>(most_mesh_axes),
                         rc::gen::container<std::vector<AxisId>>(rc::gen::inRange<AxisId>(0, most_mesh_axes)));
}

TEST(AxisList, GrowsToItsRoomAndNoFurther) {
  AxisList list;
  for (AxisId axis = 0; axis < most_mesh_axes; ++axis) list.push_back(axis);
  EXPECT_EQ(list.size(), most_mesh_axes);
  EXPECT_EQ(list.back(), most_mesh_axes - 1);
  EXPECT_THROW(list.push_back(0), InternalError);
  EXPECT_THROW(AxisList{most_mesh_axes}, InternalError) << "no axis of a mesh";
}

TEST(AxisList, AppendsPrependsAndErases) {
  AxisList list{3, 1};
  list.append({4, 1});
  list.prepend(5);
  EXPECT_THAT(items(list), ElementsAre(5, 3, 1, 4, 1));
  erase_if(list, [](AxisId axis) { return axis == 1; });
  EXPECT_THAT(items(list), ElementsAre(5, 3, 4));
  list.clear();
  EXPECT_THAT(items(list), IsEmpty());
  EXPECT_EQ(list, AxisList{});
}

TEST(AxisList, TellsAxisZeroFromNone) {
  EXPECT_TRUE(AxisList{0}.contains(0));
  EXPECT_FALSE(AxisList{}.contains(0));
  EXPECT_NE(AxisList{0}, AxisList{});
  EXPECT_NE((AxisList{1, 0}), AxisList{1});
}

RC_GTEST_PROP(AxisList, IsWhatAVectorWouldBe, ()) {
  auto a = *some_axes(), b = *some_axes();
  a.resize(std::min(a.size(), most_mesh_axes));
  b.resize(std::min(b.size(), most_mesh_axes));
  AxisList list = list_of(a);
  RC_ASSERT(items(list) == a);
  RC_ASSERT((list == list_of(b)) == (a == b));
  RC_ASSERT((list < list_of(b)) == (a < b));
  for (AxisId axis = 0; axis < most_mesh_axes; ++axis)
    RC_ASSERT(list.contains(axis) == (std::count(a.begin(), a.end(), axis) > 0));
  list.sort();
  std::sort(a.begin(), a.end());
  RC_ASSERT(items(list) == a);
}

}  // namespace
}  // namespace shardplan
