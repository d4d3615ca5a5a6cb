// MaxText's custom_mesh: 16 x 16 devices as rings of 4 or 8 and an axis over the rings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <hardware/load_profile.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <hardware/slices.hpp>
#include <set>

namespace shardplan {
namespace {

using testing::HasSubstr;

const DeviceOrder rings_of_4{.allow_split_physical_axes = true, .custom = CustomMesh::hybrid_ring_64x4};
const DeviceOrder rings_of_8{.allow_split_physical_axes = true, .custom = CustomMesh::hybrid_ring_32x8};

std::variant<MeshEmbedding, Infeasible> on_v6e(const Mesh& mesh, const DeviceOrder& order, int chips = 256) {
  const auto profile = load_profile("tpu-v6e");
  return embed(profile, slice_of_chips(profile, chips), mesh, order);
}

int hops(const DeviceCoordinates& a, const DeviceCoordinates& b) { return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]); }

TEST(HybridRings, NeighboursOfTheSmallAxisShareALink) {
  for (const auto& [order, size] : {std::pair{rings_of_4, 4}, std::pair{rings_of_8, 8}}) {
    const Mesh mesh{{{"fsdp", 256 / size, 1}, {"tensor", size, 1}}};
    const auto devices = std::get<MeshEmbedding>(on_v6e(mesh, order)).device_coordinates();
    ASSERT_EQ(devices.size(), 256U);
    EXPECT_EQ((std::set<DeviceCoordinates>(devices.begin(), devices.end()).size()), 256U);
    for (std::size_t first = 0; first < devices.size(); first += static_cast<std::size_t>(size))
      for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
        EXPECT_EQ(hops(devices[first + i], devices[first + (i + 1) % static_cast<std::size_t>(size)]), 1);
  }
}

// A ring of 2x2 has the links of both dims; a line of 4 along x, which JAX would give the axis, one at its ends.
TEST(HybridRings, GatherFasterThanALine) {
  const Mesh mesh{{{"fsdp", 64, 1}, {"tensor", 4, 1}}};
  const auto rings = std::get<MeshEmbedding>(on_v6e(mesh, rings_of_4)).network({1});
  const auto line = std::get<MeshEmbedding>(on_v6e(mesh, {.allow_split_physical_axes = true})).network({1});
  EXPECT_DOUBLE_EQ(rings.ring_rate.value, 2 * line.ring_rate.value);
}

TEST(HybridRings, AreRefusedForOtherMeshesAndSlices) {
  const Mesh fsdp{{{"fsdp", 256, 1}}}, swapped{{{"fsdp", 32, 1}, {"tensor", 8, 1}}},
      small{{{"fsdp", 16, 1}, {"tensor", 4, 1}}};
  for (const auto& [mesh, chips] : {std::pair{fsdp, 256}, std::pair{swapped, 256}, std::pair{small, 64}}) {
    const auto refused = on_v6e(mesh, rings_of_4, chips);
    ASSERT_TRUE(std::holds_alternative<Infeasible>(refused));
    EXPECT_EQ(std::get<Infeasible>(refused).constraint, ConstraintId::mesh_does_not_fit_torus);
    EXPECT_THAT(std::get<Infeasible>(refused).message, HasSubstr("one axis of 64 and one of 4"));
  }
}

// MaxText looks at custom_mesh with several slices, or where axes may be split.
TEST(HybridRings, ArePassedOverOnOneSliceOfWholeAxes) {
  const Mesh fsdp{{{"fsdp", 256, 1}}};
  const DeviceOrder unsplit{.allow_split_physical_axes = false, .custom = CustomMesh::hybrid_ring_64x4};
  EXPECT_TRUE(std::holds_alternative<MeshEmbedding>(on_v6e(fsdp, unsplit)));
  EXPECT_TRUE(std::holds_alternative<Infeasible>(on_v6e(Mesh{{{"fsdp", 256, 2}}}, unsplit)));
}

}  // namespace
}  // namespace shardplan
