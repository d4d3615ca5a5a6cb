#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <planner/evaluate/evaluate.hpp>
#include <planner/fixes/memory_under_flags.hpp>

namespace shardplan {
namespace {

std::string_view in_words(Fit fit) {
  switch (fit) {
    case Fit::fits:
      return "fits";
    case Fit::marginal:
      return "may fit or not";
    case Fit::does_not_fit:
      return "does not fit";
  }
  throw InternalError("unknown Fit");
}

}  // namespace

std::optional<Finding> memory_under_flags(const Configuration& configuration, const RunCost& now) {
  constexpr double worth_saying = 0.01;
  const Compiler& assumed = configuration.compiler;
  if (assumed.flags_assumed_from.empty() || now.memory.peak().value == 0) return std::nullopt;
  Configuration flagged = configuration;
  flagged.compiler = with_flags(assumed, assumed.flags);
  if (flagged.compiler.habits == assumed.habits) return std::nullopt;
  PreparedMesh mesh;
  const MemoryUse memory = evaluate_memory(flagged, mesh).memory;
  const double more = static_cast<double>(memory.peak().value) / static_cast<double>(now.memory.peak().value) - 1;
  if (std::abs(more) < worth_saying) return std::nullopt;
  return Finding{FindingId::memory_under_flags,
                 memory.fit() > now.memory.fit() ? Severity::warning : Severity::note,
                 fmt::format("the peak is that of a program compiled without flags, as none were given; with those that "
                             "the seconds assume and the command sets ({}) it is {:.1f} GiB, which {}; given as "
                             "--xla-flags they show that run, and --xla-flags none prints the command of this one",
                             fmt::join(print_flags(assumed.flags), " "), gibibytes(memory.peak()), in_words(memory.fit())),
                 "memory",
                 {},
                 ""};
}

}  // namespace shardplan
