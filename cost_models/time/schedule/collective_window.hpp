#pragma once
// How far from its use a weight's gather starts, and from its making a gradient's sum ends (OverlapRules::window).
#include <cost_models/time/schedule/body_schedule.hpp>
#include <shardplan/compiler/overlap_rules.hpp>

namespace shardplan {

/// Leaves a weight's collective as many of the body's steps that take time as the window has: in front of its use, where
/// it could start with the body, or behind its making, where it could end with it. A gather's window that covers it has as
/// many more as it takes. Worked: steps of 4 and 6 s in front of the use, a window of one: 6 s; of a gather of 7 s that it
/// covers: both.
void narrow(ScheduledCollective& move, const std::vector<Seconds>& steps, const OverlapRules& overlap);

}  // namespace shardplan
