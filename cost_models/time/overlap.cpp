#include <algorithm>
#include <cost_models/time/overlap.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

// Shares of bytes in operations that the scheduler left synchronous (no start/done pair), counted in MaxText train
// steps compiled ahead of time for H100, MI300X and MI355X with JAX 0.12, November 2026. TPU programs don't show it in
// their text; the same shares are assumed there.
constexpr double weight_movement = 0;        // nearly all FSDP gathers and reductions are asynchronous
constexpr double ragged_exchange = 0.83;     // expert dispatch and return by ragged all-to-all
constexpr double activation_scatter = 0.37;  // tensor-parallel partial sums
constexpr double critical_path = 1;  // all-to-alls, activation gathers and all-reduces: the next operation waits

/// Stage to stage. With pipeline_delay_activation_forwarding a result is sent one iteration before it is needed:
/// MaxText offers it so that the transfer and the iteration's compute are independent (configs/base.yml).
double stage_shift_share(const PipelineShape& pipeline) { return pipeline.forwarding_delay > 1 ? 0 : critical_path; }

}  // namespace

Seconds BodyTime::hidden() const { return std::min(asynchronous, compute); }

Seconds BodyTime::exposed() const { return synchronous + asynchronous - hidden(); }

double synchronous_share(const Collective& collective, const PipelineShape& pipeline) {
  if (collective.parameter) return weight_movement;
  switch (collective.kind) {
    case CollectiveKind::ragged_all_to_all:
      return ragged_exchange;
    case CollectiveKind::reduce_scatter:
      return activation_scatter;
    case CollectiveKind::collective_permute:
      return stage_shift_share(pipeline);
    case CollectiveKind::all_gather:
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_to_all:
      return critical_path;
  }
  throw InternalError("unknown CollectiveKind");
}

}  // namespace shardplan
