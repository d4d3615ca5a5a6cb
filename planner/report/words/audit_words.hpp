#pragma once
// What the answers of `audit` say alike as text and as markdown; no colours.
#include <planner/audit/audit.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

inline constexpr std::size_t most_exposed_collectives = 8;  ///< that a timeline shows; --format json has all

/// "ok"; "regression" against a plan or a baseline, "errors" where there is neither.
std::string_view verdict_of(const AuditAnswer& answer);

/// "+1.5 GB", "-20.3 MB"; "" of nothing.
std::string signed_traffic(std::int64_t bytes);

/// The rows of an answer that a table has room for, and the sums of the others.
struct ShownTraffic {
  std::vector<const TrafficChange*> rows;  ///< of a megabyte at least, before or now
  Traffic found, expected;                 ///< of all others
  bool has_others() const { return found.bytes.value + expected.bytes.value > 0; }
};
ShownTraffic shown_traffic(const AuditAnswer& answer);

/// "1.29 s a step: compute 1.20 s, exposed collectives 90 ms", and what the program's text leaves open.
std::string step_in_words(const ProgramTimeline& program);
/// "the plan has 1.29 s: the program takes 1.10 times as long"; "" where there is nothing to compare with.
std::string step_against_expected(const AuditAnswer& answer);
/// What the step's time is not sure of: kernels that no table has, loops of which nothing says how often they run.
std::vector<std::string> notes_of(const Timeline& timeline);

}  // namespace shardplan
