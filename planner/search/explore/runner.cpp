#include <planner/search/explore/runner.hpp>

namespace shardplan {

Runner::Runner(const SearchSpace& space, const Parallelism& any, const Evaluator& evaluate,
               PreparedMesh::Links links)
    : space_(space),
      evaluate_(evaluate),
      parallelism_(&any),
      configuration_(configuration_of(space, any, space.remat_policies.front(), any.batches.front())),
      mesh_(space.programs.get(), links, binder_on(space, any.rules, any.mesh)) {}

void Runner::change_to(const Parallelism& parallelism, const RematPolicy& policy, const BatchOption& batch) {
  if (parallelism.place != parallelism_->place) {
    configuration_.mesh = parallelism.mesh;
    mesh_.leave_links();
  }
  set_config(configuration_, space_, parallelism, policy, batch);
  parallelism_ = &parallelism;
}

RunCost Runner::run(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) {
  return evaluate_.cost(configuration_for(parallelism, remat, batch), mesh_);
}

RunCost Runner::memory(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) {
  return evaluate_.memory(configuration_for(parallelism, remat, batch), mesh_);
}

const Configuration& Runner::configuration_for(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) {
  const RematPolicy& policy = space_.remat_policies[remat];
  if (&parallelism != parallelism_) change_to(parallelism, policy, batch);
  set_remat(configuration_.config, policy);
  set_batch(configuration_.config, batch);
  return configuration_;
}

}  // namespace shardplan
