#include <fmt/format.h>

#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_timeline.hpp>

namespace shardplan {
namespace {

constexpr std::size_t most_collectives = 8;

std::string step_line(const ProgramTimeline& of_program) {
  const Timeline& t = of_program.timeline;
  std::string text = fmt::format("{} a step: compute {}, exposed collectives {}", print_time(t.seconds),
                                 print_time(t.compute), print_time(t.exposed));
  if (t.waited.value > 0) text += fmt::format(", waiting for copies {}", print_time(t.waited));
  if (of_program.low < of_program.high)
    text += fmt::format("; {} if all that could hide did, {} if nothing did", print_time(of_program.low),
                        print_time(of_program.high));
  return text;
}

std::string comparison(const AuditAnswer& answer) {
  if (!answer.expected_step) return "";
  return fmt::format("\n{} has {}: the program takes {:.2f} times as long\n", markdown_text(answer.against),
                     print_time(*answer.expected_step), answer.timeline->timeline.seconds / *answer.expected_step);
}

/// Bytes of one execution, exposed of the step.
std::string exposed_table(const AuditAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& timed : answer.timeline->collectives) {
    const NamedCollective& c = timed.collective;
    if (rows.size() == most_collectives || c.exposed.value <= 0) break;
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
  std::string text = fmt::format("\n**Timeline**, as the program schedules it: {}\n", step_line(*answer.timeline));
  text += comparison(answer);
  for (const auto& kernel : answer.timeline->timeline.unknown)
    text += fmt::format("\n- {} is in no table of kernels: {} for what it reads and writes\n", markdown_code(kernel.name),
                        print_time(kernel.seconds));
  const std::string table = exposed_table(answer);
  return text + (table.empty() ? "" : "\n" + table);
}

}  // namespace shardplan
