#pragma once
// Which communication hides behind compute.
//   hidden  = min(asynchronous, compute of the same loop body)
//   exposed = synchronous + asynchronous - hidden
// Weight gathers and weight-gradient reductions depend on nothing nearby: XLA starts them early and waits late.
// Activations are needed at once. What the compiler makes synchronous all the same, its file says (OverlapShares).
#include <shardplan/collective.hpp>
#include <shardplan/compiler.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// What one loop body does: a block's forward pass, or its backward pass with the recomputation in it.
struct BodyTime {
  Seconds compute, synchronous, asynchronous;
  Seconds host;  ///< copies to or from the host's memory
  Seconds hidden() const;
  Seconds exposed() const;
  Seconds exposed_host() const;  ///< what is longer than the compute
};

/// The share of a collective's time in which the device waits for it whatever else there is to compute.
double synchronous_share(const Collective& collective, const PipelineShape& pipeline, const OverlapShares& shares);

}  // namespace shardplan
