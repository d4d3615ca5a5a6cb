#pragma once
// Where a collective that the text puts in one place could begin and end.
#include <audit/timeline/hlo_schedule.hpp>
#include <vector>

namespace shardplan {

/// For each step of a computation the first that has to wait for its result: a product or attention kernel, a collective,
/// a call that uses it, or what views and vector kernels make of it, which can wait with it. The number of steps: none.
std::vector<std::size_t> first_uses(const std::vector<HloStep>& steps);

/// The first step beside which `collective` could run already: back over kernels that don't make what it moves, which
/// may be cut and cast on the way, over at most `window` products and attention kernels (0: any number); not over loops
/// and other calls. `collective` itself: it can't begin earlier.
std::size_t earliest_begin(const std::vector<HloStep>& steps, std::size_t collective, int window);

}  // namespace shardplan
