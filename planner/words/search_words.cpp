#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <planner/words/fit_words.hpp>
#include <planner/words/search_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string_view order_of(Objective objective) {
  switch (objective) {
    case Objective::throughput:
      return "fastest first";
    case Objective::memory:
      return "least memory first";
    case Objective::cost:
      return "cheapest first";
  }
  throw InternalError("unknown Objective");
}

std::string without_a_plan(const PlanAnswer& answer) {
  const auto& all = answer.machines;
  if (std::any_of(all.begin(), all.end(), [](const MachinePlan& machine) { return machine.unfinished.has_value(); }))
    return ": nothing found";
  const bool may = std::any_of(all.begin(), all.end(), std::mem_fn(&MachinePlan::closest_may_fit));
  return may ? ": marginal, nothing surely fits" : ": nothing fits";
}

}  // namespace

std::string plan_verdict(const PlanAnswer& answer) {
  const auto best = std::find_if(answer.machines.begin(), answer.machines.end(),
                                 [](const MachinePlan& machine) { return machine.recommended.has_value(); });
  if (best == answer.machines.end()) return without_a_plan(answer);
  const MemoryUse& memory = best->recommended->memory;
  return fmt::format(", {}{}", order_of(answer.objective),
                     memory.fit() == Fit::fits ? "" : fmt::format(": marginal, it {}", marginal_verdict(memory)));
}

std::string in_words(const Unfinished& unfinished) {
  return fmt::format("stopped at {}: {} of {} were not costed to the end",
                     unfinished.for_memory ? "--memory-limit" : "--time-limit", with_separators(unfinished.left),
                     counted(unfinished.of, "sharding"));
}

std::string in_words(const SearchProgress& progress) {
  return fmt::format("{}: {} of {} {}", progress.hardware, with_separators(progress.done),
                     counted(progress.of, progress.bounded ? "promising sharding" : "sharding"),
                     progress.bounded ? "costed" : "bounded");
}

std::string would_fit_with(const MachinePlan& machine) {
  std::vector<std::string> changes;
  for (const WouldFit& way : machine.would_fit)
    if (changes.size() < changes_in_a_line) changes.push_back(way.change);
  return fmt::format("{}", fmt::join(changes, "; or "));
}

}  // namespace shardplan
