#include <gmock/gmock.h>

#include <audit/group_axes.hpp>

namespace shardplan {
namespace {

const Mesh eight_devices = {{{"data", 1}, {"fsdp", 2}, {"tensor", 4}}};

TEST(GroupAxes, AreThoseInWhichMembersDiffer) {
  struct Row {
    const char* groups;
    AxisList axes;
    GroupFit fit;
  };
  for (const auto& [text, axes, fit] : {
           Row{"[2,4]<=[8]", {2}, GroupFit::whole_axes}, Row{"{{0,4},{1,5},{2,6},{3,7}}", {1}, GroupFit::whole_axes},
           Row{"{}", {1, 2}, GroupFit::whole_axes},
           Row{"[4,2]<=[2,2,2]T(0,2,1)", {2}, GroupFit::part_of_axes},    // 2 of the 4 tensor devices
           Row{"{{0,1,4,5},{2,3,6,7}}", {1, 2}, GroupFit::part_of_axes},  // fsdp, and half of tensor
           Row{"{{0,5},{1,4},{2,7},{3,6}}", {1, 2}, GroupFit::no_axes},   // diagonals
           Row{"{{0,1},{2,3},{4,5},{6,7}}", {2}, GroupFit::part_of_axes},
           Row{"{{0,1},{2,6},{4,5},{3,7}}", {1, 2}, GroupFit::no_axes},  // along tensor here, fsdp there
       }) {
    const GroupAxes found = axes_of(parse_replica_groups(text, 8), eight_devices);
    EXPECT_EQ(found.axes, axes) << text;
    EXPECT_EQ(found.fit, fit) << text;
  }
}

TEST(GroupAxes, OfPairsAreThoseAlongWhichAnythingIsSent) {
  struct Row {
    const char* pairs;
    AxisList axes;
  };
  for (const auto& [text, axes] : {
           Row{"{{0,4},{4,0},{1,5},{5,1}}", {1}},
           Row{"{{0,1},{1,2},{2,3},{3,0}}", {2}},
           Row{"{{0,0},{1,1},{2,4},{3,5},{4,2},{5,3},{6,6},{7,7}}", {1, 2}},
       }) {
    const GroupAxes found = axes_of(parse_source_target_pairs(text, 8), eight_devices);
    EXPECT_EQ(found.axes, axes) << text;
    EXPECT_EQ(found.fit, GroupFit::permutation) << text;
  }
}

}  // namespace
}  // namespace shardplan
