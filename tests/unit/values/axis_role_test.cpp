// What names of mesh axes stand for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <shardplan/error.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/model.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

TEST(AxisRole, IsToldFromTheName) {
  EXPECT_EQ(axis_role("fsdp"), AxisRole::fsdp);
  EXPECT_EQ(axis_role("fsdp_transpose"), AxisRole::fsdp_transpose);
  EXPECT_EQ(axis_role("autoregressive"), AxisRole::autoregressive);
  for (const char* unknown : {"", "fsd", "fsdp2", "model"}) EXPECT_EQ(axis_role(unknown), AxisRole::other) << unknown;
}

TEST(AxisRole, HasTheNameThatItIsToldFrom) {
  for (int i = 1; i <= static_cast<int>(AxisRole::autoregressive); ++i) {
    const auto role = static_cast<AxisRole>(i);
    EXPECT_EQ(axis_role(name_of(role)), role) << name_of(role);
  }
  EXPECT_THROW(name_of(AxisRole::other), InternalError);
  EXPECT_THAT(names_of({AxisRole::stage, AxisRole::data}), ElementsAre("stage", "data"));
}

TEST(AxisRole, SaysWhereMoreDevicesGo) {
  EXPECT_THAT(roles_with(&AxisTraits::takes_devices), ElementsAre(AxisRole::data, AxisRole::fsdp));
  EXPECT_THAT(roles_with(&AxisTraits::grows_between_slices),
              ElementsAre(AxisRole::data, AxisRole::stage, AxisRole::fsdp));
}

TEST(AxisRole, OfExpertsIsSearchedWithExpertsOnly) {
  Model dense, mixture;
  mixture.num_experts = 8;
  EXPECT_FALSE(is_searched(AxisRole::expert, dense));
  EXPECT_TRUE(is_searched(AxisRole::expert, mixture));
  EXPECT_TRUE(is_searched(AxisRole::fsdp, dense));
  for (const AxisRole role : {AxisRole::other, AxisRole::stage, AxisRole::context_usp_ulysses, AxisRole::diloco})
    EXPECT_FALSE(is_searched(role, mixture));
}

TEST(AxisRole, OfAMeshIsFoundWhateverTheOrder) {
  const Mesh mesh{{{"tensor", 2}, {"mine", 4}, {"fsdp_transpose", 2, 2}, {"data", 1}, {"fsdp", 8}}};
  EXPECT_EQ(mesh.find(AxisRole::fsdp), AxisId{4});
  EXPECT_EQ(mesh.find(AxisRole::data), AxisId{3});
  EXPECT_EQ(mesh.find(AxisRole::stage), std::nullopt);
  EXPECT_EQ(mesh.size_of(AxisRole::fsdp_transpose), 4);
  EXPECT_EQ(mesh.size_of(AxisRole::stage), 1);
}

TEST(AxisFamily, IsOfTheAxesAboveOneInMeshOrder) {
  const Mesh mesh{{{"tensor", 2}, {"fsdp_transpose", 2, 2}, {"data", 1}, {"fsdp", 8}}};
  EXPECT_EQ(mesh.axes_of(AxisFamily::fsdp), (AxisList{1, 3}));
  EXPECT_EQ(mesh.axes_of(AxisFamily::tensor), AxisList{0});
  EXPECT_TRUE(mesh.axes_of(AxisFamily::data).empty());
}

TEST(HasAxis, AsksAListOfNames) {
  EXPECT_TRUE(has_axis({"data", "fsdp"}, AxisRole::fsdp));
  EXPECT_FALSE(has_axis({"data", "fsdp_transpose"}, AxisRole::fsdp));
}

}  // namespace
}  // namespace shardplan
