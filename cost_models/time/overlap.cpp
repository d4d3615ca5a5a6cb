#include <algorithm>
#include <cost_models/time/overlap.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Stage to stage. With pipeline_delay_activation_forwarding a result is sent one iteration before it is needed:
/// MaxText offers it so that the transfer and the iteration's compute are independent (configs/base.yml).
double stage_shift_share(const PipelineShape& pipeline, const OverlapShares& shares) {
  return pipeline.forwarding_delay > 1 ? 0 : shares.other_activations;
}

}  // namespace

Seconds BodyTime::hidden() const { return std::min(asynchronous, compute); }

Seconds BodyTime::exposed() const { return synchronous + asynchronous - hidden(); }

Seconds BodyTime::exposed_host() const { return {std::max(host.value - compute.value, 0.0)}; }

double synchronous_share(const Collective& collective, const PipelineShape& pipeline, const OverlapShares& shares) {
  if (collective.parameter) return shares.weights;
  switch (collective.kind) {
    case CollectiveKind::ragged_all_to_all:
      return shares.ragged_exchange;
    case CollectiveKind::reduce_scatter:
      return shares.partial_sums;
    case CollectiveKind::collective_permute:
      return stage_shift_share(pipeline, shares);
    case CollectiveKind::all_gather:
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_to_all:
      return shares.other_activations;
  }
  throw InternalError("unknown CollectiveKind");
}

}  // namespace shardplan
