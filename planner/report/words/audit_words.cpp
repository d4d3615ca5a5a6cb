#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/report/words/audit_words.hpp>
#include <planner/report/humanize.hpp>

namespace shardplan {

std::string_view verdict_of(const AuditAnswer& answer) {
  if (!answer.is_regression()) return "ok";
  return answer.against.empty() ? "errors" : "regression";
}

std::string signed_traffic(std::int64_t bytes) {
  if (bytes == 0) return "";
  return (bytes < 0 ? "-" : "+") + print_traffic({bytes < 0 ? -bytes : bytes});
}

ShownTraffic shown_traffic(const AuditAnswer& answer) {
  constexpr Bytes small{1'000'000};
  ShownTraffic shown;
  for (const auto& change : answer.changes) {
    if (change.found.bytes >= small || change.expected.bytes >= small) {
      shown.rows.push_back(&change);
      continue;
    }
    shown.found += change.found;
    shown.expected += change.expected;
  }
  return shown;
}

std::string step_in_words(const ProgramTimeline& program) {
  const Timeline& t = program.timeline;
  std::string text = fmt::format("{} a step: compute {}, exposed collectives {}", print_time(t.seconds),
                                 print_time(t.compute), print_time(t.exposed));
  if (t.waited.value > 0) text += fmt::format(", waiting for copies {}", print_time(t.waited));
  if (program.low < program.high)
    text += fmt::format("; {} if all that could hide did, {} if nothing did (the text leaves open what its collectives "
                        "run beside)",
                        print_time(program.low), print_time(program.high));
  return text;
}

std::string step_against_expected(const AuditAnswer& answer) {
  if (!answer.expected_step) return "";
  const double ratio = answer.timeline->timeline.seconds / *answer.expected_step;
  return fmt::format("{} has {}: the program takes {:.2f} times as long", answer.against,
                     print_time(*answer.expected_step), ratio);
}

std::vector<std::string> notes_of(const Timeline& timeline) {
  std::vector<std::string> notes;
  for (const auto& kernel : timeline.unknown)
    notes.push_back(fmt::format("{} is in no table of kernels: {} for what it reads and writes", kernel.name,
                                print_time(kernel.seconds)));
  if (!timeline.uncounted_loops.empty())
    notes.push_back(fmt::format("counted once, for nothing says how often they run: {}",
                                fmt::join(timeline.uncounted_loops, ", ")));
  return notes;
}

}  // namespace shardplan
