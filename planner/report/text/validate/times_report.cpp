#include <fmt/format.h>

#include <planner/report/text/text_table.hpp>
#include <planner/report/validate_report.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

std::string summary_table(const TimeScore& score, const Style& style) {
  TextTable table({{"runs of", Align::left, true},
                   {"runs", Align::right},
                   {"mean error", Align::right},
                   {"bias", Align::right, false, 1},
                   {"within 15%", Align::right}});
  const auto add = [&](const TimeError& error) {
    table.add({error.of, std::to_string(error.runs), fmt::format("{:.1f}%", 100 * error.mean),
               fmt::format("{:+.1f}%", 100 * error.bias), std::to_string(error.within_15_percent)});
  };
  for (const auto& error : score.by_machine) add(error);
  for (const auto& error : score.by_kind) add(error);
  add(score.all);
  return table.print(style.width());
}

}  // namespace

std::string times_text(const TimeScore& score, const Style& style) {
  TextTable table({{"run", Align::left, true},
                   {"machine", Align::left, false, 2},
                   {"kind", Align::left, false, 1},
                   {"predicted", Align::right},
                   {"throughput", Align::right}});
  for (const TimedRun& run : score.runs)
    table.add({run.id, run.machine, std::string(name_of(run.kind)), fmt::format("{:.3g} s", run.step_seconds),
               fmt::format("{:.2f}x", run.ratio)});
  return table.print(style.width()) + "\n" + summary_table(score, style) +
         "\n" +
         wrap_text("Throughput: predicted over measured, above 1 where a prediction is too fast; errors are of its "
                   "logarithm. "
                   "Each run is costed with the XLA flags of its recipe; nothing is fitted to a run.",
                   "", style.width());
}

}  // namespace shardplan
