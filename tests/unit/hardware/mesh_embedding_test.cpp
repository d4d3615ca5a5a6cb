#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <hardware/slices.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

Mesh mesh_of(const nlohmann::json& axes, int slices) {
  Mesh mesh;
  for (const auto& axis : axes) mesh.axes.push_back({axis[0], axis[1], 1});
  if (slices > 1) mesh.axes.front() = {mesh.axes.front().name, mesh.axes.front().ici / slices, slices};
  return mesh;
}

/// Recorded as [x, y, z, core] on TPUs and [node, rank in the job] on GPUs.
DeviceCoordinates recorded(const nlohmann::json& at) {
  if (at.size() == 2) return {at[0], at[1].get<int>() % 8, 0, 0};
  return {at[0], at[1], at[2], at[3]};
}

/// Where JAX put the devices of compiled train steps.
TEST(MeshEmbedding, DevicesLandWhereJaxPutThem) {
  const auto rows = parse_json(read_file(TEST_DATA "/hardware/recorded_meshes.json"), "recorded_meshes.json");
  EXPECT_GE(rows.size(), 20U);
  for (const auto& row : rows) {
    const auto named = slice_named(row["topology"]);
    const Mesh mesh = mesh_of(row["mesh"], row["slices"]);
    const auto embedded = embed(load_profile(named.profile), named.slice, mesh, {});
    ASSERT_TRUE(std::holds_alternative<MeshEmbedding>(embedded)) << row["id"];
    const auto coordinates = std::get<MeshEmbedding>(embedded).device_coordinates();
    ASSERT_EQ(coordinates.size() * row["slices"].get<std::size_t>(), row["coordinates"].size()) << row["id"];
    for (std::size_t device = 0; device < coordinates.size(); ++device)
      ASSERT_EQ(coordinates[device], recorded(row["coordinates"][device])) << row["id"] << " device " << device;
  }
}

TEST(MeshEmbedding, RefusesWhatTheTorusCannotHold) {
  // Recorded: MaxText refuses expert 2 beside stage 4 and fsdp 8 on a 4x4x4 slice before compiling.
  const auto named = slice_named("v5p-128");
  const Mesh mesh{{{"stage", 4, 1}, {"fsdp", 8, 1}, {"expert", 2, 1}}};
  const auto refused = embed(load_profile(named.profile), named.slice, mesh, {});
  ASSERT_TRUE(std::holds_alternative<Infeasible>(refused));
  EXPECT_EQ(std::get<Infeasible>(refused).constraint, ConstraintId::mesh_does_not_fit_torus);
  EXPECT_THAT(std::get<Infeasible>(refused).message, HasSubstr("axis 'expert' of size 2"));
  EXPECT_EQ(std::get<Infeasible>(refused).needed, 2);
  EXPECT_TRUE(std::holds_alternative<MeshEmbedding>(
      embed(load_profile(named.profile), named.slice, mesh, {.allow_split_physical_axes = true})));
}

TEST(MeshEmbedding, SmallSlicesOnAFixedPathTakeAnyMesh) {
  for (const char* name : {"v5p-16", "v6e-8", "v5e-8", "tpu7x-8", "tpu7x-16", "tpu7x-32"}) {
    const auto named = slice_named(name);
    const Mesh mesh{{{"data", 2, 1}, {"fsdp", named.slice.devices / 8, 1}, {"expert", 2, 1}, {"tensor", 2, 1}}};
    EXPECT_TRUE(std::holds_alternative<MeshEmbedding>(embed(load_profile(named.profile), named.slice, mesh, {})))
        << name;
  }
}

TEST(MeshEmbedding, AMeshOfAnotherSizeIsBadInput) {
  const auto named = slice_named("v5p-16");
  EXPECT_THAT(
      [&] {
        embed(load_profile(named.profile), named.slice, Mesh{{{"fsdp", 4, 1}}}, {});
      },
      testing::ThrowsMessage<InputError>(HasSubstr("mesh fsdp=4 has 4 devices a slice; v5p-16 has 8")));
}

/// Every device has its own place, also where dims are split.
TEST(MeshEmbedding, PlacesEveryDeviceOnce) {
  const auto profile = load_profile("tpu-7x");
  const Slice slice = slice_of_chips(profile, 64);
  const Mesh mesh{{{"data", 2, 1}, {"fsdp", 8, 1}, {"tensor", 2, 1}, {"expert", 4, 1}}};
  auto all = std::get<MeshEmbedding>(embed(profile, slice, mesh, {.allow_split_physical_axes = true})).device_coordinates();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.back(), (DeviceCoordinates{3, 3, 3, 1}));
}

}  // namespace
}  // namespace shardplan
