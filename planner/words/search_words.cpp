#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/words/search_words.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {

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
