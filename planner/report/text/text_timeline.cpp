#include <fmt/format.h>

#include <planner/report/words/audit_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/text/text_timeline.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

constexpr double shown_share = 0.005;  ///< of the step, that a loop takes to be shown

std::string kernels_line(const KernelSeconds& kernels) {
  const std::string text = print_times({{"matrix products", kernels.product},
                                        {"grouped products", kernels.grouped_product},
                                        {"attention kernels", kernels.attention},
                                        {"other kernels", kernels.vector},
                                        {"slowed by collectives", kernels.contention}});
  return text.empty() ? "" : "compute: " + text;
}

std::string loop_table(const Timeline& timeline, const Style& style) {
  TextTable table({{"loop", Align::left, true}, {"runs", Align::right}, {"in all", Align::right},
                   {"a run", Align::right, false, 2}, {"compute", Align::right, false, 1}, {"exposed", Align::right}});
  for (const auto& loop : timeline.loops) {
    if (loop.seconds < timeline.seconds * shown_share) continue;
    table.add({std::string(static_cast<std::size_t>(loop.depth) * 2, ' ') + loop.name, print_count(loop.runs),
               print_time(loop.seconds), print_time(loop.seconds * (1 / static_cast<double>(loop.runs))),
               print_time(loop.compute), print_time(loop.exposed)});
  }
  return table.empty() ? "" : table.print(style.width(), 2);
}

/// The operations of combined collectives are one long name.
std::string short_name(const std::string& operation) {
  constexpr std::size_t most = 48;
  return operation.size() <= most ? operation : operation.substr(0, most - 3) + "...";
}

/// Times of one execution, but what is exposed of the step.
std::string collective_table(const AuditAnswer& answer, const Style& style) {
  TextTable table({{"most exposed", Align::left, true}, {"axes", Align::left, true}, {"where", Align::left, true, 4},
                   {"times", Align::right, false, 2}, {"bytes", Align::right, false, 3}, {"takes", Align::right},
                   {"window", Align::right, false, 1},
                   {"exposed", Align::right}});
  std::size_t shown = 0;
  for (const auto& timed : answer.timeline->collectives) {
    const NamedCollective& c = timed.collective;
    if (shown == most_exposed_collectives || c.exposed.value <= 0) break;
    ++shown;
    const double each = 1 / static_cast<double>(c.executions);
    const std::string place = timed.loop.empty() ? "" : " in " + timed.loop;
    table.add({std::string(name_of(c.kind)), axes_text(c.axes, answer.mesh),
               fmt::format("{}: {}{}", name_of(c.phase), short_name(c.op.empty() ? timed.instruction : c.op), place),
               print_count(c.executions), print_traffic(c.bytes), print_time(c.seconds * each),
               timed.asynchronous ? print_time(timed.window * each) : "-", print_time(c.exposed)});
  }
  return shown == 0 ? "" : table.print(style.width(), 2);
}

}  // namespace

std::string timeline_section(const AuditAnswer& answer, const Style& style) {
  if (!answer.timeline) return "";
  std::string text = "\n" + style.paint(Ink::bold, "timeline") + "  as the program schedules it\n";
  text += wrap_text(step_in_words(*answer.timeline), "  ", style.width());
  text += wrap_text(kernels_line(answer.timeline->timeline.kernels), "  ", style.width());
  if (const auto line = step_against_expected(answer); !line.empty()) text += wrap_text(line, "  ", style.width());
  text += loop_table(answer.timeline->timeline, style);
  text += collective_table(answer, style);
  for (const auto& note : notes_of(answer.timeline->timeline)) text += wrap_text(note, "  note  ", style.width());
  return text;
}

}  // namespace shardplan
