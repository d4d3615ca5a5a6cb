#pragma once
// Where the meshes of one search lie on the machine's links. Rule sets and paths through the experts share a mesh, and the
// search comes back to it: routing its groups takes as long as costing a candidate.
#include <hardware/network/mesh_embedding.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shardplan/configuration.hpp>
#include <unordered_map>

namespace shardplan {

class MeshPlace {
 public:
  /// Throws InputError where the machine can't have the mesh, even if axes could be split.
  explicit MeshPlace(const Configuration& configuration);

  /// Why MaxText would refuse it: the torus can't hold it whole, and it is placed as if axes could be split.
  const std::optional<Infeasible>& misfit() const { return misfit_; }
  /// What the place is to a group of devices. Several threads may ask at once.
  const GroupNetwork& network(const AxisList& axes, GroupSpan span);

 private:
  struct KnownNetwork {
    AxisList axes;
    GroupSpan span;
    GroupNetwork network;
  };
  std::optional<Infeasible> misfit_;
  MeshEmbedding embedding_;
  std::mutex mutex_;
  std::list<KnownNetwork> networks_;  ///< a few
};

class PlaceCache {
 public:
  /// Of up to some hundred kilobytes each; with more it begins anew.
  static constexpr std::size_t most = 256;

  /// The place of a configuration's mesh; all calls have the same machine. Several threads may ask at once.
  std::shared_ptr<MeshPlace> place_of(const Configuration& configuration);

 private:
  struct Known {
    Mesh mesh;
    DeviceOrder order;
    std::shared_ptr<MeshPlace> place;
  };
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, Known> known_;  ///< by hash of the mesh's sizes
};

}  // namespace shardplan
