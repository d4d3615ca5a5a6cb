// Places of meshes are found once for all that ask for them.
#include <gtest/gtest.h>

#include <planner/evaluate/mesh_place.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

Configuration on_eight_chips(const std::string& mesh) {
  return read("model_name=llama2-7b compile_topology=v5p-16 per_device_batch_size=1 " + mesh);
}

TEST(PlaceCache, KnowsAMeshByItsSizesAndTheOrderOfDevices) {
  PlaceCache places;
  Configuration c = on_eight_chips("ici_fsdp_parallelism=8");
  const auto place = places.place_of(c);
  c.config.per_device_batch_size = 2;
  EXPECT_EQ(places.place_of(c), place) << "which batch runs there doesn't matter";
  EXPECT_NE(places.place_of(on_eight_chips("ici_fsdp_parallelism=4 ici_data_parallelism=2")), place);
  c.config.allow_split_physical_axes = true;
  EXPECT_NE(places.place_of(c), place);
}

TEST(MeshPlace, RoutesAGroupOnce) {
  const Configuration c = on_eight_chips("ici_fsdp_parallelism=8");
  MeshPlace place(c);
  const AxisList fsdp = c.mesh.axes_of(AxisFamily::fsdp);
  const GroupNetwork* const network = &place.network(fsdp, GroupSpan::whole);
  EXPECT_EQ(&place.network(fsdp, GroupSpan::whole), network);
  EXPECT_NE(&place.network(fsdp, GroupSpan::inside_slices), network);
  EXPECT_EQ(&place.network(fsdp, GroupSpan::whole), network);
  EXPECT_FALSE(place.misfit());
}

}  // namespace
}  // namespace shardplan
