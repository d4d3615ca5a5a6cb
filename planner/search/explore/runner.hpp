#pragma once
// Costs the candidates of related families, one after the other: parallelisms of the same rules and path on meshes of the
// same sizes.
#include <map>
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
  struct Looked {
    RunCost run;
    bool is_new;
  };
  /// The same without its time. Other links don't change it, but for those that exchanges of experts take: what was looked
  /// at of kin isn't costed again.
  Looked memory(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch);

  /// Of what may grow with the batch so much did, in the last parallelism whose batches were counted (exploration.cpp).
  double share_that_grows() const { return share_that_grows_; }
  void set_share_that_grows(double share) { share_that_grows_ = share; }

 private:
  Runner(const SearchSpace& space, const Parallelism& any, const Evaluator& evaluate, PreparedMesh::Links links,
         const std::shared_ptr<const Binder>& binder);

  /// What beside the sizes of a mesh, its rules and the path through the experts memory depends on.
  struct Memory {
    PipelineSchedule schedule;
    bool dispatch_peeled, optimizer_over_data;
    std::optional<SplashBlocks> attention_blocks;
    std::int64_t expert_slices;
    std::size_t remat;
    BatchOption batch;
    auto operator<=>(const Memory&) const = default;
  };
  Memory memory_of(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) const;
  const Configuration& configuration_for(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch);
  void change_to(const Parallelism& parallelism, const RematPolicy& policy, const BatchOption& batch);

  const SearchSpace& space_;
  const Evaluator& evaluate_;
  const Parallelism* parallelism_;  ///< of the last candidate
  LentConfiguration configuration_;  ///< changed from candidate to candidate
  PreparedMesh mesh_;
  AxisList expert_axes_;
  bool shares_memory_;
  double share_that_grows_ = 1;
  std::map<Memory, RunCost> known_;  ///< of kin
};

}  // namespace shardplan
