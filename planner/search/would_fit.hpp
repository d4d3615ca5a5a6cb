#pragma once
// What to change when nothing fits. Every answer has been searched and fits; changes that don't help are not named.
#include <shardplan/plan.hpp>
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/space/candidate.hpp>
#include <planner/search/space/rejections.hpp>
#include <vector>

namespace shardplan {

struct WouldFits {
  std::vector<WouldFit> found;
  std::int64_t evaluated = 0;  ///< configurations, whether they fit or not
};

/// The same request with narrower moments and weights, the optimizer or the layers' inputs in host memory, accumulation
/// instead of a larger batch, a shorter sequence, the next machine size up to 4096 chips: each by itself. Costed with
/// the remat policy that needs least memory. Where MaxText refused some on the mesh that is asked for because weights
/// miss an axis (`rejections`), also without that check. A change that the budget has nothing left for is not named.
WouldFits what_would_fit(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& closest,
                         const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget);

/// A step that may take `least`, which is the least that was met: rounded up to three digits.
WouldFits what_step_would_fit(const PlanRequest& request, const HardwareProfile& profile, Seconds least,
                              const Evaluator& evaluate, const SearchBudget& budget);

/// Of a step with a fixed number of tokens that can't be shared out among the devices: the nearest numbers below and above
/// of which every device has whole sequences of `length` tokens.
WouldFits what_batch_would_fit(const PlanRequest& request, const HardwareProfile& profile, std::int64_t devices,
                               std::int64_t length, const Evaluator& evaluate, const SearchBudget& budget);

}  // namespace shardplan
