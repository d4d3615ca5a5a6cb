#include <gmock/gmock.h>

#include <hardware/load_profile.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <hardware/slices.hpp>

namespace shardplan {
namespace {

/// The network of one axis of a mesh on a toy machine: links of 100 GB/s, efficiency 1, 1 us a hop, 5 us a collective,
/// 10 GB/s and 10 us between slices or nodes.
GroupNetwork toy_network(const char* machine, int chips, const Mesh& mesh, const AxisList& axes) {
  const auto profile = load_profile(machine);
  return std::get<MeshEmbedding>(
             embed(profile, slice_of_chips(profile, chips), mesh, {.allow_split_physical_axes = true}))
      .network(axes);
}

struct Row {
  int chips;
  Mesh mesh;
  AxisList axes;
  double ring, exchange, shift, microseconds;  ///< GB/s
  const char* description;
};

void expect_networks(const char* machine, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto network = toy_network(machine, row.chips, row.mesh, row.axes);
    SCOPED_TRACE(std::string(machine) + " " + describe(row.mesh) + ": " + network.description);
    EXPECT_NEAR(network.ring_rate.value / 1e9, row.ring, 1e-3);
    EXPECT_NEAR(network.exchange_rate.value / 1e9, row.exchange, 1e-3);
    EXPECT_NEAR(network.shift_rate.value / 1e9, row.shift, 1e-3);
    EXPECT_NEAR(network.latency.value * 1e6, row.microseconds, 1e-6);
    EXPECT_EQ(network.description, row.description);
    EXPECT_EQ(network.size, row.mesh.product(row.axes));
  }
}

TEST(Network, OnATorus) {
  expect_networks(
      "toy-torus",
      {
          {64, {{{"a", 16, 1}, {"b", 4, 1}}}, {1}, 200, 150, 100, 7, "4 devices: ring of 4 along x"},
          {64,
           {{{"a", 16, 1}, {"b", 4, 1}}},
           {0},
           400,
           187.5,
           100,
           9,
           "16 devices: ring of 4 along y, ring of 4 along z"},
          {64,
           {{{"a", 16, 1}, {"b", 4, 1}}},
           {0, 1},
           600,
           196.875,
           100,
           11,
           "64 devices: ring of 4 along x, ring of 4 along y, ring of 4 along z"},
          // Without wraparound a line has half the ring's bandwidth; two chips have one link.
          {32, {{{"a", 8, 1}, {"b", 4, 1}}}, {1}, 100, 75, 100, 8, "4 devices: line of 4 along y (no wraparound)"},
          {32,
           {{{"a", 8, 1}, {"b", 4, 1}}},
           {0},
           200,
           87.5,
           100,
           9,
           "8 devices: 2 along x, line of 4 along z (no wraparound)"},
          {2, {{{"a", 2, 1}}}, {0}, 100, 100, 100, 6, "2 devices: 2 along x"},
          {4, {{{"a", 4, 1}}}, {0}, 200, 150, 100, 7, "4 devices: 2 along x, 2 along y"},
          // A ring of 4 split in two: neighbours, and the pairs two apart that share the links.
          {64, {{{"a", 32, 1}, {"b", 2, 1}}}, {1}, 100, 100, 100, 6, "2 devices: 2 along x"},
          {64, {{{"a", 2, 1}, {"b", 2, 1}, {"c", 16, 1}}}, {0}, 100, 100, 50, 7, "2 devices: 2 along z, 2 chips apart"},
          // Two slices: 10 GB/s each device out. 4 devices gather 1/8 each outside, then 3/4 inside.
          {64,
           {{{"a", 16, 2}, {"b", 4, 1}}},
           {0},
           31.0 / 32 / (0.5 / 16 / 10 + 15.0 / 16 / 400),
           31.0 / 32 / (15.0 / 32 / 187.5 + 0.5 / 10),
           10,
           19,
           "32 devices: ring of 4 along y, ring of 4 along z, across 2 slices"},
          {64, {{{"d", 1, 8}, {"a", 64, 1}}}, {0}, 10, 10, 10, 35, "8 devices: across 8 slices"},
          {64, {{{"a", 64, 1}, {"b", 1, 1}}}, {1}, 100, 100, 100, 0, "1 device"},
      });
}

// Of 8 devices each with 100 GB/s to a switch, or to each of 7 peers, exchanges reach 0.9; between nodes, what they reach.
TEST(Network, ExchangesMayReachLessOfTheLinks) {
  const std::pair<const char*, double> rows[] = {{"toy-switch", 100}, {"toy-mesh", 700}};
  for (const auto& [machine, links] : rows) {
    HardwareProfile profile = load_profile(machine);
    profile.exchange_efficiency = profile.link_efficiency;
    profile.exchange_efficiency->value = 0.9;
    const Mesh mesh{{{"d", 1, 2}, {"a", 8, 1}}};
    const auto embedding = std::get<MeshEmbedding>(embed(profile, slice_of_chips(profile, 8), mesh, {}));
    const GroupNetwork inside = embedding.network({1}), outside = embedding.network({0});
    EXPECT_NEAR(inside.ring_rate.value / 1e9, links, 1e-3) << machine;
    EXPECT_NEAR(inside.exchange_rate.value / 1e9, 0.9 * links, 1e-3) << machine;
    EXPECT_NEAR(outside.exchange_rate.value, outside.ring_rate.value, 1) << machine;
  }
}

// Of three rings of 4 at 200 GB/s each half is reached together; a ring alone, one beside a pair of chips, exchanges and
// permutes have what they had.
TEST(Network, RingsThatWorkTogetherReachTheirShare) {
  auto profile = load_profile("toy-torus");
  profile.joint_ring_efficiency = Figure{0.5, "1", "toy", Basis::measured};
  const auto network = [&](int chips, const Mesh& mesh, const AxisList& axes) {
    return std::get<MeshEmbedding>(
               embed(profile, slice_of_chips(profile, chips), mesh, {.allow_split_physical_axes = true}))
        .network(axes);
  };
  const Mesh cube{{{"a", 16, 1}, {"b", 4, 1}}};
  EXPECT_NEAR(network(64, cube, {1}).ring_rate.value, 200e9, 1);
  EXPECT_NEAR(network(64, cube, {0}).ring_rate.value, 200e9, 1);
  EXPECT_NEAR(network(64, cube, {0, 1}).ring_rate.value, 300e9, 1);
  EXPECT_NEAR(network(64, cube, {0}).exchange_rate.value, 187.5e9, 1);
  EXPECT_NEAR(network(64, cube, {0}).shift_rate.value, 100e9, 1);
  const GroupNetwork pair = network(8, {{{"a", 8, 1}}}, {0});
  profile.joint_ring_efficiency.reset();
  EXPECT_EQ(pair.ring_rate.value, network(8, {{{"a", 8, 1}}}, {0}).ring_rate.value) << "2x2x2 has no rings";
}

TEST(Network, OnChipsOfTwoDevices) {
  expect_networks(
      "toy-two-core",
      {
          // Both devices of a chip use its links at once.
          {64, {{{"a", 16, 1}, {"b", 4, 1}, {"c", 2, 1}}}, {1}, 100, 75, 50, 7, "4 devices: ring of 4 along x"},
          // The die-to-die link of 1000 GB/s serves the two devices of a chip.
          {64,
           {{{"a", 16, 1}, {"b", 4, 1}, {"c", 2, 1}}},
           {2},
           1000,
           1000,
           1000,
           6,
           "2 devices: both devices of a chip"},
          // Off the chip first (3/8 of the result at 100), then within it (1/2 at 1000).
          {64,
           {{{"a", 16, 1}, {"b", 8, 1}}},
           {1},
           7.0 / 8 / (0.375 / 100 + 0.5 / 1000),
           7.0 / 8 / (6.0 / 8 / 75 + 1.0 / 8 / 1000),
           50,
           8,
           "8 devices: ring of 4 along x, both devices of a chip"},
      });
}

TEST(Network, ThroughASwitch) {
  expect_networks(
      "toy-switch",
      {
          {8, {{{"a", 4, 1}, {"b", 2, 1}}}, {0}, 100, 100, 100, 8, "4 devices: 4 through the node's switch"},
          {8, {{{"a", 4, 1}, {"b", 2, 1}}}, {0, 1}, 100, 100, 100, 12, "8 devices: 8 through the node's switch"},
          {8, {{{"a", 1, 4}, {"b", 8, 1}}}, {0}, 10, 10, 10, 25, "4 devices: across 4 nodes"},
          // Four nodes as one job: ranks are row-major, so the first axis spans the nodes.
          {32, {{{"a", 4, 1}, {"b", 8, 1}}}, {0}, 10, 10, 10, 25, "4 devices: across 4 nodes"},
          {32,
           {{{"a", 2, 1}, {"b", 16, 1}}},
           {1},
           15.0 / 16 / (0.5 / 8 / 10 + 7.0 / 8 / 100),
           15.0 / 16 / (7.0 / 16 / 100 + 0.5 / 10),
           10,
           22,
           "16 devices: 8 through the node's switch, across 2 nodes"},
      });
}

TEST(Network, InAFullMesh) {
  expect_networks(
      "toy-mesh",
      {
          {8, {{{"a", 4, 1}, {"b", 2, 1}}}, {1}, 100, 100, 100, 6, "2 devices: 2 with direct links to each other"},
          {8, {{{"a", 4, 1}, {"b", 2, 1}}}, {0}, 300, 300, 100, 6, "4 devices: 4 with direct links to each other"},
          {8, {{{"a", 8, 1}}}, {0}, 700, 700, 100, 6, "8 devices: 8 with direct links to each other"},
      });
}

double ring_gigabytes(const char* topology, const Mesh& mesh, const AxisList& axes) {
  const auto named = slice_named(topology);
  const auto embedded = embed(load_profile(named.profile), named.slice, mesh, {});
  return std::get<MeshEmbedding>(embedded).network(axes).ring_rate.value / 1e9;
}

/// On fixed device paths: groups that fill a box have its links; others share what routing leaves them.
TEST(Network, OnDevicePaths) {
  const struct {
    const char* topology;
    Mesh mesh;
    AxisList axes;
    double ring;
    const char* why;
  } rows[] = {
      {"v5p-16", {{{"fsdp", 8, 1}}}, {0}, 270, "a 2x2x2 cube: 3 links of 90"},
      {"v5p-16", {{{"fsdp", 2, 1}, {"expert", 4, 1}}}, {1}, 180, "a 2x2 square: 2 links of 90"},
      {"v5p-16", {{{"fsdp", 4, 1}, {"expert", 2, 1}}}, {1}, 90, "neighbours"},
      {"v5p-16", {{{"fsdp", 2, 1}, {"expert", 4, 1}}}, {0}, 90, "000 and 011, two hops apart; nobody else on the way"},
      {"v6e-8", {{{"fsdp", 4, 1}, {"expert", 2, 1}}}, {1}, 90, "neighbours"},
      {"v6e-8", {{{"fsdp", 2, 1}, {"expert", 4, 1}}}, {1}, 180, "a 2x2 square"},
      // Measured: 178.8 GB/s into a chip when its two devices gather over 2x2 chips, each with its own group.
      {"tpu7x-32",
       {{{"fsdp", 4, 1}, {"expert", 8, 1}}},
       {0},
       44.7,
       "a line of 4 along z, shared by the devices of a chip"},
      {"tpu7x-8", {{{"fsdp", 4, 1}, {"expert", 2, 1}}}, {0}, 89.4, "2x2 chips: 2 links of 89.4, shared by two devices"},
      {"tpu7x-8", {{{"fsdp", 4, 1}, {"expert", 2, 1}}}, {1}, 536.4, "the die-to-die link"},
  };
  for (const auto& row : rows)
    EXPECT_NEAR(ring_gigabytes(row.topology, row.mesh, row.axes), row.ring, 0.01) << row.topology << ": " << row.why;
}

}  // namespace
}  // namespace shardplan
