#pragma once
// Seconds of a compiled program's collectives on a machine: the same prices as the plan's.
#include <hardware/network/mesh_embedding.hpp>
#include <map>
#include <arguments/machine_arguments.hpp>
#include <shardplan/collective/collective.hpp>

namespace shardplan {

class LinkPrices {
 public:
  /// Throws InputError when the machine can't hold the mesh.
  LinkPrices(const Machine& machine, const Mesh& mesh);

  /// Of all executions. Groups along a part of an axis are priced as if they went along all of it.
  Seconds seconds_of(const Collective& collective);

 private:
  MeshEmbedding embedding_;
  std::map<AxisList, GroupNetwork> networks_;  ///< those asked for so far
};

}  // namespace shardplan
