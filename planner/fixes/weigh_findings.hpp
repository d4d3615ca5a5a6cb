#pragma once
// Findings in the light of their fixes: each fix is costed, and one is offered only where it spares more than it costs.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

struct WeighedFindings {
  std::vector<Finding> findings;
  std::optional<Evaluation> fixed;  ///< with the fix of the costliest finding
};

/// Of each finding the first remedy (remedies.hpp) that spares collectives, and time once compute is added, as if nothing
/// overlapped. A finding of which none does is no more than a note, without a fix, unless MaxText refuses to start.
/// Rules that leave an axis idle (planner/findings/replicated_activations.hpp) are looked at too, and said where naming it
/// spares at least 5% of the step.
WeighedFindings weigh_findings(const Configuration& configuration, const Evaluation& now);

}  // namespace shardplan
