#include <fmt/format.h>

#include <planner/report/humanize.hpp>
#include <planner/report/words/plan_words.hpp>

namespace shardplan {
namespace {

std::string settings_of(const Evaluation& evaluation) {
  std::string text = fmt::format("{}, {}, {}", describe(evaluation.mesh), evaluation.rules, evaluation.remat);
  if (evaluation.moe_path != MoePath::none) text += fmt::format(", {}", name_of(evaluation.moe_path));
  return text;
}

/// The first: what came nearest, or most were dropped for.
std::string rejection_text(const std::vector<RejectionCount>& rejections) {
  if (rejections.empty()) return "no valid configuration";
  return fmt::format("{}: {}", name_of(rejections.front().constraint), rejections.front().example);
}

}  // namespace

std::string shortfall_of(const MachinePlan& machine) {
  if (!machine.refused.empty()) return machine.refused;
  const Infeasible* shortage = machine.shortage();
  if (!shortage) {
    if (machine.unfinished) return "nothing found before the search was stopped";
    return rejection_text(machine.rejections);
  }
  if (shortage->constraint != ConstraintId::hbm) return infeasible_text(*shortage);
  if (machine.closest_may_fit())
    return marginal_text(machine.closest->memory) + ", with " + settings_of(*machine.closest);
  return fmt::format("needs {} of {} at least ({} too much) with {}", print_memory({shortage->needed}),
                     print_memory({shortage->available}), print_memory({shortage->needed - shortage->available}),
                     settings_of(*machine.closest));
}

std::string slower_in_words(double slower) {
  return slower < 1 ? print_share(slower) : fmt::format("{}x", print_number(1 + slower));
}

}  // namespace shardplan
