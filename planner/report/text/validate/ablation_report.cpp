#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/validate_report.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

constexpr std::size_t records_told = 3;

std::string points(double with, double without) { return fmt::format("{:+.1f}", (without - with) * 100); }

/// "llama: collectives +3.1, phases +3.1, memory 0.0"
std::string record_text(const AblatedRecord& record) {
  if (record.failure) return fmt::format("{}: no prediction: {}", record.id, *record.failure);
  return fmt::format("{}: collectives {}, phases {}, memory {}", record.id,
                     points(record.with.collectives, record.without.collectives),
                     points(record.with.phases, record.without.phases),
                     points(record.with.memory, record.without.memory));
}

using Measure = double RecordErrors::*;

/// The largest change of one kind of error, in points; "-" where none is worth a tenth.
std::string largest(const AblatedHabit& habit, Measure measure) {
  double most = 0;
  for (const auto* records : {&habit.worse, &habit.better})
    for (const auto& record : *records)
      if (const double change = record.without.*measure - record.with.*measure; std::abs(change) > std::abs(most))
        most = change;
  return std::abs(most) < 0.0005 ? "-" : points(0, most);
}

void add_habit(TextTable& table, const AblatedHabit& habit) {
  table.add({std::string(name_of(habit.habit)), std::to_string(habit.programs), std::to_string(habit.worse.size()),
             std::to_string(habit.better.size()), largest(habit, &RecordErrors::collectives),
             largest(habit, &RecordErrors::phases), largest(habit, &RecordErrors::memory)});
  for (std::size_t i = 0; i < std::min(records_told, habit.worse.size()); ++i)
    table.add_spanning({}, "  " + record_text(habit.worse[i]));
}

}  // namespace

std::string ablation_text(const std::vector<AblatedHabit>& habits, const Style& style) {
  TextTable table({{"without"},
                   {"programs", Align::right},
                   {"worse", Align::right},
                   {"better", Align::right},
                   {"collectives", Align::right},
                   {"phases", Align::right},
                   {"memory", Align::right}});
  for (const auto& habit : habits) add_habit(table, habit);
  return table.print(style.width()) + "\n" +
         wrap_text("Recorded programs whose compiler has the habit, and how many of them are predicted worse and better "
                   "without it; the largest changes of an error, in percentage points.",
                   "", style.width());
}

}  // namespace shardplan
