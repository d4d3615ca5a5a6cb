// Meshes as people write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <shardplan/error.hpp>
#include <shardplan/mesh/mesh.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

const std::vector<std::string> names = {"data", "fsdp", "tensor", "expert"};

TEST(ParseMesh, PutsSizesOnTheirAxes) {
  const Mesh mesh = parse_mesh("expert=4,data=2", names);
  ASSERT_EQ(mesh.axes.size(), 4);
  EXPECT_EQ(mesh.axes[0], (MeshAxis{"data", 2, 1}));
  EXPECT_EQ(mesh.axes[1], (MeshAxis{"fsdp", 1, 1}));
  EXPECT_EQ(mesh.axes[3], (MeshAxis{"expert", 4, 1}));
  EXPECT_EQ(mesh.devices(), 8);
}

TEST(ParseMesh, OfNothingIsOneDevice) { EXPECT_EQ(parse_mesh("", names).devices(), 1); }

TEST(ParseMesh, PassesOverSpaces) {
  EXPECT_EQ(parse_mesh(" expert=4, data=2 ", names), parse_mesh("expert=4,data=2", names));
}

struct Mistake {
  const char *text, *complaint;
};

TEST(ParseMesh, NamesTheMistake) {
  for (const auto& [text, complaint] : {Mistake{"fdsp=8", "mesh: unknown axis 'fdsp'; nearest: fsdp"},
                                        {"fsdp=2,fsdp=4", "mesh: axis 'fsdp' is given twice"},
                                        {"fsdp", "mesh: expected axis=size, got 'fsdp'"},
                                        {"fsdp=", "axis 'fsdp' needs a whole number of at least 1, not ''"},
                                        {"fsdp=0", "not '0'"},
                                        {"fsdp=-1", "not '-1'"},
                                        {"fsdp=2.5", "not '2.5'"},
                                        {"fsdp=8x", "not '8x'"},
                                        {"fsdp= 8", "not ' 8'"},
                                        {"fsdp=99999999999", "not '99999999999'"},
                                        {"fsdp=2,,data=2", "expected axis=size, got ''"},
                                        {"=2", "unknown axis ''"}}) {
    try {
      parse_mesh(text, names);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(complaint)) << text;
    }
  }
}

TEST(Mesh, MultipliesSlicesIntoItsAxes) {
  const Mesh mesh{{{"data", 1, 2}, {"fsdp", 4, 2}, {"expert", 8, 1}}};
  EXPECT_EQ(mesh.size(0), 2);
  EXPECT_EQ(mesh.size(1), 8);
  EXPECT_EQ(mesh.devices(), 128);
  EXPECT_EQ(mesh.slices(), 4);
  EXPECT_EQ(mesh.product({0, 2}), 16);
  EXPECT_EQ(mesh.product({}), 1);
}

TEST(Mesh, HasSizeOneAlongAnAxisItLacks) {
  const Mesh mesh = parse_mesh("fsdp=8", names);
  EXPECT_EQ(mesh.find("fsdp"), AxisId{1});
  EXPECT_EQ(mesh.find("context"), std::nullopt);
  EXPECT_EQ(mesh.size_of("fsdp"), 8);
  EXPECT_EQ(mesh.size_of("context"), 1);
}

TEST(AxisSizes, AreOneSizeOrARange) {
  const auto asked = parse_axis_sizes("fsdp=8..64,expert=2");
  EXPECT_THAT(asked, testing::ElementsAre(AskedSizes{"fsdp", 8, 64}, AskedSizes{"expert", 2, 2}));
  EXPECT_EQ(describe(asked), "fsdp=8..64,expert=2");
  EXPECT_TRUE(asked[0].has(8) && asked[0].has(64));
  EXPECT_FALSE(asked[0].has(7) || asked[0].has(65));
  for (const char* wrong : {"fsdp=8..4", "fsdp=..4", "fsdp=8..", "fsdp=0..4", "fsdp=1..2,fsdp=4", "fsdp"})
    EXPECT_THROW(parse_axis_sizes(wrong), InputError) << wrong;
}

TEST(Describe, SaysTheAxesAboveOneInMeshOrder) {
  EXPECT_EQ(describe(parse_mesh("expert=2,fsdp=4", names)), "fsdp=4,expert=2");
  EXPECT_EQ(describe(parse_mesh("fsdp=1", names)), "1 device");
  EXPECT_EQ(describe(Mesh{{{"data", 1, 2}}}), "data=2");
}

TEST(SpreadMesh, ItsFirstAxesAreBetweenSlices) {
  const auto spread = spread_over(parse_mesh("data=2,fsdp=4,expert=4", names), 4);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->axes[0], (MeshAxis{"data", 1, 2}));
  EXPECT_EQ(spread->axes[1], (MeshAxis{"fsdp", 2, 2}));
  EXPECT_EQ(spread->axes[3], (MeshAxis{"expert", 4, 1}));
  EXPECT_FALSE(spread_over(parse_mesh("fsdp=8", names), 3));
}

RC_GTEST_PROP(MeshProperty, WhatIsDescribedParsesToTheSameMesh, ()) {
  Mesh mesh = parse_mesh("", names);
  for (auto& axis : mesh.axes) axis.ici = *rc::gen::inRange(1, 9);
  const std::string text = describe(mesh);
  RC_ASSERT(parse_mesh(text == "1 device" ? "" : text, names) == mesh);
}

RC_GTEST_PROP(MeshProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  try {
    RC_ASSERT(parse_mesh(text, names).devices() >= 1);
  } catch (const InputError&) {
  }
}

}  // namespace
}  // namespace shardplan
