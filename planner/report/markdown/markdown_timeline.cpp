#include <fmt/format.h>

#include <planner/report/words/audit_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_timeline.hpp>

namespace shardplan {
namespace {

/// Bytes of one execution, exposed of the step.
std::string exposed_table(const AuditAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& timed : answer.timeline->collectives) {
    const NamedCollective& c = timed.collective;
    if (rows.size() == most_exposed_collectives || c.exposed.value <= 0) break;
    rows.push_back({std::string(name_of(c.kind)), markdown_code(join_axes(names_of(c.axes, answer.mesh))),
                    std::string(name_of(c.phase)), markdown_code(c.op.empty() ? timed.instruction : c.op),
                    print_count(c.executions), print_traffic(c.bytes), print_time(c.exposed)});
  }
  return markdown_table({{"most exposed"}, {"axes"}, {"phase"}, {"where"}, {"times", true}, {"bytes", true},
                         {"exposed", true}}, rows);
}

}  // namespace

std::string markdown_timeline(const AuditAnswer& answer) {
  if (!answer.timeline) return "";
  std::string text = fmt::format("\n**Timeline**, as the program schedules it: {}\n",
                                 markdown_text(step_in_words(*answer.timeline)));
  if (const auto line = step_against_expected(answer); !line.empty()) text += fmt::format("\n{}\n", markdown_text(line));
  for (const auto& note : notes_of(answer.timeline->timeline)) text += fmt::format("\n- {}\n", markdown_text(note));
  const std::string table = exposed_table(answer);
  return text + (table.empty() ? "" : "\n" + table);
}

}  // namespace shardplan
