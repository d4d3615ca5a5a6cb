#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/evaluate/flagged_memory.hpp>
#include <planner/fixes/memory_under_flags.hpp>
#include <planner/words/fit_words.hpp>

namespace shardplan {

std::optional<Finding> memory_under_flags(const Configuration& configuration) {
  const auto memory = memory_with_assumed_flags(configuration);
  if (!memory) return std::nullopt;
  const MemoryUse& with = memory->with;
  return Finding{FindingId::memory_under_flags,
                 with.fit() > memory->without.fit() ? Severity::warning : Severity::note,
                 fmt::format("the peak is that of a program compiled without flags, as none were given, and its range "
                             "spans one with those that the seconds assume and the command sets ({}): with them it is "
                             "{:.1f} GiB, which {}; given as --xla-flags they show that run, and --xla-flags none prints "
                             "the command of this one",
                             fmt::join(print_flags(flags_of(configuration)), " "), gibibytes(with.peak()),
                             in_words(with.fit())),
                 "memory",
                 {},
                 ""};
}

}  // namespace shardplan
