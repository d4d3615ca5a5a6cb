#include <fmt/format.h>

#include <bit>
#include <planner/search/explore/incumbents.hpp>
#include <planner/search/fewer_chips.hpp>
#include <planner/search/plan_machine.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {

std::string what_fewer_chips_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                  const Evaluator& evaluate, const SearchBudget& budget) {
  const auto chips = static_cast<unsigned>(request.chips);
  if (request.slices || !request.mesh.empty() || chips < 2 || std::has_single_bit(chips)) return "";
  PlanRequest fewer = request;
  fewer.chips = static_cast<int>(std::bit_floor(chips));
  fewer.beside = Beside::nothing;
  const MachinePlan plan = plan_machine(fewer, profile, evaluate, budget);
  if (!plan.recommended) return "";
  const Evaluation& smaller = *plan.recommended;
  const double faster = smaller.tokens_per_second_with_routing() / best.tokens_per_second_with_routing() - 1;
  if (faster <= indistinguishable) return "";
  return fmt::format(
      "--chips {} would make {:.1f}% more tokens a second with {}: the best that {} take is {}, with {} a step",
      fewer.chips, 100 * faster, describe(smaller.mesh),
      counted(best.devices, "device"), describe(best.mesh), counted(best.global_batch_tokens, "token"));
}

}  // namespace shardplan
