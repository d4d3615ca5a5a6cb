#include <planner/evaluate/evaluate.hpp>
#include <planner/search/explore/runner.hpp>

namespace shardplan {

Runner::Runner(const SearchSpace& space, const Parallelism& any, const Evaluator& evaluate,
               PreparedMesh::Links links)
    : Runner(space, any, evaluate, links, binder_on(space, any.rules, any.mesh)) {}

Runner::Runner(const SearchSpace& space, const Parallelism& any, const Evaluator& evaluate, PreparedMesh::Links links,
               const std::shared_ptr<const Binder>& binder)
    : space_(space),
      evaluate_(evaluate),
      parallelism_(&any),
      configuration_(lend_configuration(space, any, space.remat_policies.front(), any.batches.front())),
      mesh_(space.programs.get(), links, binder, space.places.get()),
      expert_axes_(binder->expert_axes()),
      shares_memory_(links == PreparedMesh::Links::several) {}

void Runner::change_to(const Parallelism& parallelism, const RematPolicy& policy, const BatchOption& batch) {
  if (parallelism.place != parallelism_->place) {
    configuration_->mesh = parallelism.mesh;
    mesh_.leave_links();
  }
  set_config(*configuration_, space_, parallelism, policy, batch);
  parallelism_ = &parallelism;
}

RunCost Runner::run(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) {
  return evaluate_.cost(configuration_for(parallelism, remat, batch), mesh_);
}

Runner::Looked Runner::memory(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) {
  if (!shares_memory_) return {evaluate_.memory(configuration_for(parallelism, remat, batch), mesh_), true};
  const Memory alike = memory_of(parallelism, remat, batch);
  if (const auto known = known_.find(alike); known != known_.end()) return {known->second, false};
  RunCost run = evaluate_.memory(configuration_for(parallelism, remat, batch), mesh_);
  if (runs_if_large_enough(run)) known_.emplace(alike, run);
  return {std::move(run), true};
}

Runner::Memory Runner::memory_of(const Parallelism& p, std::size_t remat, const BatchOption& batch) const {
  return {p.schedule,
          p.dispatch_peeled,
          p.optimizer_over_data,
          p.attention_blocks,
          p.mesh.group_size(expert_axes_, GroupSpan::between_slices),
          remat,
          batch};
}

const Configuration& Runner::configuration_for(const Parallelism& parallelism, std::size_t remat, const BatchOption& batch) {
  const RematPolicy& policy = space_.remat_policies[remat];
  if (&parallelism != parallelism_) change_to(parallelism, policy, batch);
  set_remat(configuration_->config, policy);
  set_batch(configuration_->config, batch);
  return *configuration_;
}

}  // namespace shardplan
