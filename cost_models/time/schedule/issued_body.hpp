#pragma once
// A loop body as XLA's latency hiding scheduler orders it where one collective at a time may be in flight
// (latency_hiding_scheduler.cc; xla_gpu_experimental_parallel_collective_overlap_limit is 1). It goes from the end of the
// body to its begin:
//   - A collective's done comes as late as it may, just before its first reader, as soon as no other is in flight. Of
//     several that wait for that, the one with most latency on the way to it is first ("async depth").
//   - Its start is put in front of it once what it takes has passed: at once where another done waits, or where a step
//     makes what it moves; gathers of weights, made by no step, keep the channel until another wants it.
//   - It is started earlier where nothing else can run in front of it: the step before makes what it moves, or what a
//     collective moves that waits for the channel.
//   - Steps that lead to nothing but a collective of their result (gradients of weights) follow behind its start, and so
//     hide what is in flight then: each sum has the next product behind it, the last one nothing but the stacks.
// So a gather gets the kernels behind the one before it was waited for, not all of those while the network is free.
// Worked: steps of 1, 8 and 8 ms; gathers of 10 ms for the second and the third, one of 10 ms for the end of the body, all
// startable at once. From the end: the last has both products, 16 for its 10 ms, and starts in front of them; the other two
// dones lie there, too: the third step's has the step of 1 ms, the second's nothing. 9 + 10 ms are waited for, and the body
// takes 36 ms. A channel that starts them as soon as it is free would expose 9 + 2 + 2.
#include <cost_models/time/schedule/body_schedule.hpp>

namespace shardplan {

/// A step that leads to nothing but this collective, or to several, each of which is told.
struct Leaf {
  int step = 0;
  std::size_t collective = 0;
};

/// exposed_in_body and place_body of a body whose collectives are issued so. One that goes `ahead` is started and waited for
/// within one iteration, the one before that needs it or behind that made it: XLA's collective pipeliner carries its result
/// or its operand over (collective_pipeliner.cc). `leaves`: the steps whose results only collectives read.
BodyWaits exposed_as_issued(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives,
                            const std::vector<Leaf>& leaves);
PlacedBody place_as_issued(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives,
                           const std::vector<Leaf>& leaves);

}  // namespace shardplan
