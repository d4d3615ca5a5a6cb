#pragma once
// What a comparison means: findings with the ids of docs/audit.md.
#include <audit/compare_traffic.hpp>
#include <optional>
#include <shardplan/evaluation.hpp>

namespace shardplan {

struct AuditThresholds {
  double tolerance = 0.05;         ///< share of the expected bytes that may differ
  Bytes ignore_below = {1 << 20};  ///< a difference a step, by class and axes
};

enum class Against : std::uint8_t { nothing, plan, baseline };

struct AuditView {
  const Mesh& mesh;
  AxisList expert_axes;  ///< that hold the experts
  AuditThresholds thresholds;
  Against against = Against::nothing;
  bool priced = false;  ///< seconds are known
};

/// Traffic of a class over some axes is extra when it passes what is expected by more than the tolerance, and a
/// regression (an error) when it does so by more than the tolerance of all that the step is expected to move. Where all
/// collectives of the program together take no longer than expected (without prices: move no more), it is a note.
std::vector<Finding> audit_findings(const std::vector<TrafficItem>& found, const std::vector<TrafficChange>& changes,
                                    const AuditView& view);

bool is_regression(const std::vector<Finding>& findings);

}  // namespace shardplan
