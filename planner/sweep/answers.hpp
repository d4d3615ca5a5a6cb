#pragma once
// Which cell of a sweep to take.
#include <planner/sweep/sweep.hpp>

namespace shardplan {

/// Indices into the rows. Of those that are possible and, where a deadline is given, meet it; those that may not fit
/// only where no other does.
struct SweepChoice {
  std::optional<std::size_t> smallest;  ///< fewest chips; of as many the one with most tokens a second
  std::optional<std::size_t> cheapest;  ///< fewest dollars; only where every one has a price is it the cheapest of all
  std::optional<std::size_t> fastest;   ///< most tokens a second
  std::size_t in_time = 0;              ///< cells that were chosen from
  std::size_t without_price = 0;        ///< of those, the ones that `cheapest` could not compare
};

bool meets(const SweepRow& row, const SweepGoal& goal);

/// Among the rows of `model`; of all rows where it is empty.
SweepChoice choose(const SweepAnswer& answer, const std::string& model = "");
/// The same, whatever the deadline.
SweepChoice choose_at_any_time(const SweepAnswer& answer, const std::string& model = "");

/// The models of the rows, in their order.
std::vector<std::string> models_of(const SweepAnswer& answer);

}  // namespace shardplan
