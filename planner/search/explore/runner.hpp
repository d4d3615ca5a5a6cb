#pragma once
// Costs the candidates of related families, one after the other: parallelisms of the same rules and path on meshes of the
// same sizes.
#include <planner/search/space/candidate.hpp>
#include <planner/search/space/parallelism.hpp>

namespace shardplan {

class Runner {
 public:
  /// `any` of the families. All three must outlive it. `links`: whether they lie on the same.
  Runner(const SearchSpace& space, const Parallelism& any, const Evaluator& evaluate,
         PreparedMesh::Links links = PreparedMesh::Links::one);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  RunCost run(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch);
  /// The same without its time.
  RunCost memory(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch);

 private:
  const Configuration& configuration_for(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch);
  void change_to(const Parallelism& parallelism, const RematPolicy& policy, const BatchOption& batch);

  const SearchSpace& space_;
  const Evaluator& evaluate_;
  const Parallelism* parallelism_;  ///< of the last candidate
  /// Changed from candidate to candidate: copying model, machine and rules costs as much as costing them.
  Configuration configuration_;
  PreparedMesh mesh_;
};

}  // namespace shardplan
