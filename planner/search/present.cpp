#include <fmt/format.h>

#include <planner/search/present.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

Evaluation Presenter::show(const Candidate& candidate) const {
  const Parallelism& parallelism = parallelisms_[candidate.parallelism];
  const auto configuration = std::make_shared<const Configuration>(configuration_of(
      space_, parallelism, space_.remat_policies[candidate.remat], parallelism.batches[candidate.batch]));
  Evaluation evaluation = evaluate_.full(*configuration);
  evaluation.configuration = configuration;
  Cost seen = cost_of(evaluation, space_.required);
  if (!candidate.cost.is_timed()) seen.forget_time();
  if (!(seen == candidate.cost))
    throw InternalError(fmt::format("mesh {}: the search saw {} s a token and {} bytes, the plan {} s and {} bytes",
                                    describe(parallelism.mesh), candidate.cost.seconds_per_token, candidate.cost.peak,
                                    seen.seconds_per_token, evaluation.memory.peak().value));
  return evaluation;
}

std::vector<Evaluation> Presenter::show(const std::vector<Candidate>& candidates) const {
  std::vector<Evaluation> evaluations;
  for (const Candidate& candidate : candidates) evaluations.push_back(show(candidate));
  return evaluations;
}

}  // namespace shardplan
