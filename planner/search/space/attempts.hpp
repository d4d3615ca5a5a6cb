#pragma once
// What becomes of rules on a mesh: each path, schedule and place of the optimizer, and why it is none where MaxText refuses
// it.
#include <memory>
#include <planner/search/space/parallelism.hpp>
#include <string>

namespace shardplan {

struct Attempt {
  Parallelism parallelism;
  /// Equal texts on equal meshes: the same sharding of every tensor. Null where there is a violation.
  std::shared_ptr<const std::string> shardings;
  std::optional<Infeasible> violation;
};

/// Whatever links the axes of the mesh lie on. `spreads_optimizer`: ZeRO-1 is worth trying on it.
std::vector<Attempt> attempts_under(const SearchSpace& space, std::size_t rules, const Mesh& mesh, bool spreads_optimizer);

}  // namespace shardplan
