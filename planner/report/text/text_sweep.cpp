#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/sweep_report.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <planner/sweep/answers.hpp>
#include <planner/sweep/scaling.hpp>
#include <planner/words/fit_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <set>

namespace shardplan {
namespace {

/// "exposed-communication" → "exposed communication"
std::string in_words(Limit limit) {
  std::string words(name_of(limit));
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

std::string days_text(Seconds duration) { return print_number(in_days(duration)); }

/// To a hundredth within a hundredth of the deadline: 100.3 days are not in time within 100.
std::string days_text(Seconds duration, const SweepGoal& goal) {
  const bool is_close = goal.within && std::abs(duration / *goal.within - 1) < 0.01;
  return is_close ? fmt::format("{:.2f}", in_days(duration)) : days_text(duration);
}

/// "60 days", "12 hours": in the largest unit that it is a whole number of, as whoever asked did.
std::string deadline_text(Seconds within) {
  constexpr std::pair<double, const char*> units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
  for (const auto& [seconds, unit] : units)
    if (const double many = within.value / seconds; many == std::floor(many)) return counted(many, unit);
  return counted(within.value, "second");
}

std::string dollars_text(double dollars) { return "$" + print_number(dollars); }

/// Which columns any row has something to say in.
struct Said {
  bool budget = false, dollars = false, energy = false, deadline = false, experts = false;
};

Said said_by(const SweepAnswer& answer) {
  Said said;
  said.budget = answer.goal.tokens.has_value();
  said.deadline = answer.goal.within.has_value();
  for (const SweepRow& row : answer.rows) {
    said.dollars |= row.budget && row.budget->dollars;
    said.energy |= row.budget && row.budget->kilowatt_hours;
    said.experts |= row.plan && row.plan->moe_path != name_of(MoePath::none);
  }
  return said;
}

/// A column and what it says of a possible cell.
struct SweepColumn {
  Column column;
  std::function<std::string(const SweepRow&)> text;
};

std::vector<SweepColumn> budget_columns(const Said& said, const SweepGoal& goal) {
  std::vector<SweepColumn> columns;
  if (said.budget)
    columns.push_back({{"days", Align::right}, [goal](const SweepRow& r) { return days_text(r.budget->duration, goal); }});
  if (said.deadline)
    columns.push_back({{"in time"}, [goal](const SweepRow& r) { return std::string(meets(r, goal) ? "yes" : "no"); }});
  if (said.budget)
    columns.push_back(
        {{"chip-hours", Align::right, false, 5}, [](const SweepRow& r) { return print_number(r.budget->chip_hours); }});
  if (said.dollars)
    columns.push_back({{"cost", Align::right},
                       [](const SweepRow& r) { return r.budget->dollars ? dollars_text(*r.budget->dollars) : "-"; }});
  if (said.energy)
    columns.push_back({{"MWh", Align::right, false, 6}, [](const SweepRow& r) {
                         return r.budget->kilowatt_hours ? print_number(*r.budget->kilowatt_hours / 1000) : "-";
                       }});
  return columns;
}

std::vector<SweepColumn> plan_columns(const Said& said) {
  std::vector<SweepColumn> columns = {
      {{"MFU", Align::right, false, 4}, [](const SweepRow& r) { return print_share(r.plan->model_flops_utilization); }},
      {{"HBM GiB", Align::right, false, 2},
       [](const SweepRow& r) {
         return fmt::format("{}{}/{}", r.plan->fit == Fit::fits ? "" : "? ", print_gibibytes(r.plan->peak),
                            print_gibibytes(r.plan->capacity));
       }},
      {{"batch tok", Align::right, false, 7}, [](const SweepRow& r) { return print_count(r.plan->global_batch_tokens); }},
      {{"limited by", Align::left, true, 3}, [](const SweepRow& r) { return in_words(r.limit); }},
      {{"mesh", Align::left, true}, [](const SweepRow& r) { return describe_mesh(*r.plan); }},
      {{"rules", Align::left, true, 8}, [](const SweepRow& r) { return r.plan->rules; }}};
  if (said.experts) columns.push_back({{"MoE", Align::left, false, 10}, [](const SweepRow& r) { return r.plan->moe_path; }});
  columns.push_back({{"remat", Align::left, true, 9}, [](const SweepRow& r) { return r.plan->remat; }});
  return columns;
}

std::vector<SweepColumn> columns_of(const Said& said, const SweepGoal& goal) {
  std::vector<SweepColumn> columns = {
      {{"tokens/s", Align::right, false, said.budget ? 1 : 0},
       [](const SweepRow& r) {
         return (r.plan->lacks_bias_gradients ? "< " : "") + print_number(r.plan->tokens_per_second);
       }}};
  for (auto& column : budget_columns(said, goal)) columns.push_back(std::move(column));
  for (auto& column : plan_columns(said)) columns.push_back(std::move(column));
  return columns;
}

std::string_view verdict_of(const CellPlan& plan) {
  MemoryUse memory;
  memory.low = plan.low;
  memory.high = plan.high;
  memory.capacity = plan.capacity;
  memory.reserved = plan.reserved;
  return marginal_verdict(memory);
}

/// What the question mark in a model's table says of its cells; "" where it has none.
std::string doubt_of(const SweepAnswer& answer, const std::string& model) {
  std::set<std::string_view> verdicts;
  for (const SweepRow& row : answer.rows)
    if (row.cell.model == model && row.plan && row.plan->fit != Fit::fits) verdicts.insert(verdict_of(*row.plan));
  return fmt::format("{}", fmt::join(verdicts, "; or "));
}

/// What the sign before its tokens a second says; "" where it has none.
std::string lacking_of(const SweepAnswer& answer, const std::string& model) {
  std::set<std::string> machines;
  for (const SweepRow& row : answer.rows)
    if (row.cell.model == model && row.plan && row.plan->lacks_bias_gradients) machines.insert(row.cell.hardware);
  if (machines.empty()) return "";
  return at_most_words({machines.begin(), machines.end()}) + "; days, hours and costs are at least these";
}

std::string table_text(const SweepAnswer& answer, const std::string& model, const std::vector<SweepColumn>& columns,
                       const Style& style) {
  std::vector<Column> titles = {{"machine"}, {"chips", Align::right}};
  for (const auto& column : columns) titles.push_back(column.column);
  TextTable table(titles);
  for (const SweepRow& row : answer.rows) {
    if (row.cell.model != model) continue;
    std::vector<std::string> cells = {row.cell.hardware, print_count(row.cell.chips)};
    if (!row.plan) {
      table.add_spanning(std::move(cells), fmt::format("no ({}): {}", in_words(row.limit), row.reason));
      continue;
    }
    for (const auto& column : columns) cells.push_back(column.text(row));
    table.add(std::move(cells));
  }
  const std::string doubt = doubt_of(answer, model), lacking = lacking_of(answer, model);
  return table.print(style.width(), 2) + (doubt.empty() ? "" : wrap_text(doubt, "  ? ", style.width())) +
         (lacking.empty() ? "" : wrap_text(lacking, "  < ", style.width()));
}

/// "tpu-v5p on 512 chips: 43.1 days, 529,000 chip-hours, $2,220,000"
std::string chosen_text(const SweepRow& row) {
  const bool lacking = row.plan->lacks_bias_gradients;
  std::string text = fmt::format("{} on {}: {}", row.cell.hardware, counted(row.cell.chips, "chip"),
                                 !lacking ? "" : row.budget ? "at least " : "at most ");
  if (const auto& budget = row.budget) {
    text += fmt::format("{} days, {} chip-hours", days_text(budget->duration), print_number(budget->chip_hours));
    if (budget->dollars) text += ", " + dollars_text(*budget->dollars);
  } else {
    text += print_number(row.plan->tokens_per_second) + " tokens/s";
  }
  return row.plan->fit == Fit::fits ? text : fmt::format("{} ({})", text, verdict_of(*row.plan));
}

/// What to do where no cell meets the deadline, or none is possible.
std::string nothing_text(const SweepAnswer& answer, const std::string& model) {
  const auto fastest = choose_at_any_time(answer, model).fastest;
  if (!fastest) return "no cell is possible";
  return fmt::format("no cell is done within {}; the fastest is {}", deadline_text(*answer.goal.within),
                     chosen_text(answer.rows[*fastest]));
}

std::string unpriced_text(const std::string& hardware, bool in_time, const Style& style) {
  return wrap_text(fmt::format("not known: no price is given of a machine that is{} (--price {}=DOLLARS, of a chip-hour)",
                               in_time ? " in time" : " possible", hardware),
                   "  cheapest  ", style.width());
}

std::string answers_text(const SweepAnswer& answer, const std::string& model, const Style& style) {
  const SweepChoice choice = choose(answer, model);
  if (choice.in_time == 0) return wrap_text(nothing_text(answer, model), "  ", style.width());
  const auto line = [&](std::string_view name, const std::optional<std::size_t>& row, std::string_view note = "") {
    if (!row) return std::string();
    return wrap_text(chosen_text(answer.rows[*row]) + std::string(note), fmt::format("  {:<9} ", name), style.width());
  };
  const std::string unpriced =
      choice.without_price > 0 ? fmt::format(" (of the cells with a price; {} {} none)", choice.without_price,
                                             choice.without_price == 1 ? "has" : "have")
                               : "";
  const bool lacks_prices = answer.goal.tokens && !choice.cheapest;
  return line("smallest", choice.smallest) +
         (lacks_prices ? unpriced_text(answer.rows[*choice.smallest].cell.hardware, answer.goal.within.has_value(), style)
                       : line("cheapest", choice.cheapest, unpriced)) +
         line("fastest", choice.fastest);
}

/// "to 512 chips (93.1% of the tokens a chip of 64); 1,024 have 75.2%: …"
std::string scaling_sentence(const MachineScaling& scaling, const SweepAnswer& answer) {
  const auto chips = [&](std::size_t row) { return answer.rows[row].cell.chips; };
  const std::string far = fmt::format("to {}", counted(chips(scaling.largest.row), "chip"));
  const std::string compared =
      scaling.largest.row == scaling.smallest
          ? ""
          : fmt::format(", with {} of the tokens a chip of {}", print_share(scaling.largest.efficiency),
                        print_count(chips(scaling.smallest)));
  if (!scaling.stops) return far + compared + ": all that were planned";
  const Limit limit = answer.rows[scaling.stops->row].limit;
  const std::string forbidden = limit == Limit::batch  ? "; the batch may not grow"
                                : limit == Limit::step ? "; a step may not take longer"
                                                       : "";
  return fmt::format("{}{}; at {} {}, because of {} (a token takes {} more chip time for it){}", far, compared,
                     print_count(chips(scaling.stops->row)), print_share(scaling.stops->efficiency), in_words(scaling.grown),
                     print_share(scaling.growth), forbidden);
}

std::string scaling_text(const std::vector<MachineScaling>& all, const SweepAnswer& answer, const std::string& model,
                         const Style& style) {
  const auto cell = [&](const MachineScaling& scaling) -> const SweepCell& { return answer.rows[scaling.smallest].cell; };
  std::size_t longest = 0;
  for (const MachineScaling& scaling : all) longest = std::max(longest, cell(scaling).hardware.size());
  std::string text;
  for (const MachineScaling& scaling : all)
    if (cell(scaling).model == model)
      text += wrap_text(scaling_sentence(scaling, answer), fmt::format("    {:<{}}  ", cell(scaling).hardware, longest),
                        style.width());
  if (text.empty()) return "";
  const std::string title =
      fmt::format("scales (above {} of the tokens a chip of the smallest)", print_share(scaling_share));
  return wrap_text(title, "  ", style.width()) + text;
}

/// "15T", "300B"; other numbers in full.
std::string tokens_text(std::int64_t tokens) {
  constexpr std::pair<std::int64_t, char> units[] = {{1'000'000'000'000, 'T'}, {1'000'000'000, 'B'}, {1'000'000, 'M'}};
  for (const auto& [factor, letter] : units)
    if (tokens % (factor / 10) == 0 && tokens >= factor)
      return fmt::format("{}{}", static_cast<double>(tokens) / static_cast<double>(factor), letter);
  return print_count(tokens);
}

std::string goal_text(const SweepGoal& goal) {
  std::string text;
  if (goal.tokens) text += fmt::format("{} tokens", tokens_text(*goal.tokens));
  if (goal.within) text += " within " + deadline_text(*goal.within);
  return text;
}

std::string title_text(const SweepAnswer& answer, const Style& style) {
  const auto possible =
      std::count_if(answer.rows.begin(), answer.rows.end(), [](const SweepRow& r) { return r.plan.has_value(); });
  std::string shard = answer.shard.count > 1 ? fmt::format(" of shard {}/{}", answer.shard.number, answer.shard.count) : "";
  if (!is_complete(answer)) shard += fmt::format(" (of {})", cells_of_shard(answer));
  const std::string cells =
      style.paint(Ink::bold, counted_cells(answer.rows.size()) + shard) + fmt::format(", {} possible", possible);
  const std::string goal = goal_text(answer.goal);
  if (goal.empty()) return cells + "\n";
  const std::string line = cells + "   " + goal;
  return display_width(line) <= style.width() ? line + "\n" : cells + "\n" + wrap_text(goal, "  ", style.width());
}

}  // namespace

std::string sweep_text(const SweepAnswer& answer, const Style& style) {
  const auto columns = columns_of(said_by(answer), answer.goal);
  const auto scaling = scaling_of(answer);
  std::string text = title_text(answer, style);
  for (const auto& model : models_of(answer))
    text += "\n" + style.paint(Ink::bold, model) + "\n" + table_text(answer, model, columns, style) +
            answers_text(answer, model, style) + scaling_text(scaling, answer, model, style);
  return text;
}

}  // namespace shardplan
