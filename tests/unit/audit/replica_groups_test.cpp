#include <gmock/gmock.h>

#include <audit/hlo/replica_groups.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Groups = std::vector<std::vector<int>>;

TEST(ReplicaGroups, EverySpelling) {
  const Groups rows = {{0, 1, 2, 3}, {4, 5, 6, 7}}, columns = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  struct Row {
    const char* text;
    Groups groups;
  };
  for (const auto& [text, groups] : {
           Row{"{{0,1,2,3},{4,5,6,7}}", rows},
           Row{"{}", {{0, 1, 2, 3, 4, 5, 6, 7}}},
           Row{"[2,4]<=[8]", rows},
           Row{"[1,8]<=[8]", {{0, 1, 2, 3, 4, 5, 6, 7}}},
           Row{"[4,2]<=[2,4]T(1,0)", columns},
           Row{"[4,2]<=[2,2,2]T(0,2,1)", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
           Row{"mesh['fsdp'=2,'tensor'=4] {'tensor'}", rows},
           Row{"mesh['fsdp'=2,'tensor'=4] {'fsdp'}", columns},
           Row{"mesh['a'=2,'b'=4] {'a','b'}", {{0, 1, 2, 3, 4, 5, 6, 7}}},
           Row{"mesh['a'=2,'b'=4] {'b','a'}", {{0, 4, 1, 5, 2, 6, 3, 7}}},
           Row{"mesh['a'=1,'b'=8] {'b':(1)2}", columns},
           Row{"mesh['a'=1,'b'=8] {'b':(2)4}", rows},
           Row{"mesh['b'=8] {'b':(2)2}", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
           Row{"mesh['a'=2,'b'=4], device_ids=(7,6,5,4,3,2,1,0) {'b'}", {{7, 6, 5, 4}, {3, 2, 1, 0}}},
           Row{"mesh['a'=2,'b'=4], device_ids=([2,4]<=[4,2]T(1,0)) {'b'}", {{0, 2, 4, 6}, {1, 3, 5, 7}}},
       })
    EXPECT_EQ(parse_replica_groups(text, 8).groups, groups) << text;
}

TEST(ReplicaGroups, AMeshKeepsItsNames) {
  const auto groups = parse_replica_groups("mesh['data'=1,'fsdp'=8] {'fsdp'}", 8);
  ASSERT_TRUE(groups.mesh);
  EXPECT_EQ(*groups.mesh, (Mesh{{{"data", 1}, {"fsdp", 8}}}));
}

TEST(ReplicaGroups, PairsLeaveOutDevicesThatSendToThemselves) {
  EXPECT_THAT(parse_source_target_pairs("{{0,0},{2,4},{4,2}}", 8).groups,
              ElementsAre(ElementsAre(2, 4), ElementsAre(4, 2)));
}

TEST(ReplicaGroups, MalformedOnesAreErrors) {
  for (const auto* text : {"",
                           "{{0,1},{2}}",
                           "{{0,8}}",
                           "{{0,1},{1,2}}",
                           "{{0,1}",
                           "{0,1}",
                           "[2,4]",
                           "[2,4]<=[4]",
                           "[8]<=[8]",
                           "[2,4]<=[2,4]T(1,1)",
                           "[2,4]<=[2,4]T(1)",
                           "[4000000000,4]<=[8]",
                           "[8,1]<=[8,8]",
                           "mesh['a'=8]",
                           "mesh['a'=8] {'b'}",
                           "mesh['a'=16] {'a'}",
                           "mesh['a'=8] {'a':(3)2}",
                           "mesh['a'=8] {'a':(2)2,'a':(1)4}",
                           "mesh['a'=8], device_ids=(0,1) {'a'}",
                           "{{99999999999999999999,1}}",
                           "{{-1,1}}",
                           "{{0,x}}"})
    EXPECT_THROW(parse_replica_groups(text, 8), InputError) << text;
  for (const auto* text : {"{{0,1,2}}", "{{0,8}}", "{{0}}", "[2,4]<=[8]"})
    EXPECT_THROW(parse_source_target_pairs(text, 8), InputError) << text;
}

}  // namespace
}  // namespace shardplan
