#include <fmt/format.h>

#include <cmath>
#include <planner/report/humanize.hpp>
#include <planner/words/fit_words.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr double gibi = 1024.0 * 1024.0 * 1024.0;
constexpr double mebi = 1024.0 * 1024.0;

// Which decimals give three significant digits is decided after rounding: 9.996 is "10.0", not "10.00".
int decimals(double number) {
  const double size = std::abs(number);
  if (size >= 99.95) return 0;
  return size >= 9.995 ? 1 : 2;
}

}  // namespace

std::string print_number(double number) {
  if (!std::isfinite(number)) throw InternalError("a number of the report is not finite");
  if (std::abs(number) >= 1e15) return fmt::format("{:.3g}", number);  // beyond what a double has whole
  if (std::abs(number) >= 999.5) return print_count(std::llround(number));
  return fmt::format("{:.{}f}", number, decimals(number));
}

std::string print_gibibytes(Bytes amount) { return fmt::format("{:.1f}", gibibytes(amount)); }

std::string print_memory(Bytes amount) {
  if (amount.value == 0) return "0 GiB";
  const auto value = static_cast<double>(amount.value);
  if (std::abs(value) < 0.9995 * mebi) return print_number(value / 1024) + " KiB";
  if (std::abs(value) < 0.05 * gibi) return print_number(value / mebi) + " MiB";
  return print_gibibytes(amount) + " GiB";
}

std::string print_traffic(Bytes amount) {
  if (amount.value == 0) return "0 GB";
  if (std::abs(amount.value) < 1000) return fmt::format("{} B", amount.value);
  if (amount.value >= 999'500'000'000) return print_number(static_cast<double>(amount.value) / 1e9) + " GB";
  const auto [number, unit] = scaled(amount);
  return fmt::format("{} {}", print_number(number), unit);
}

std::string print_time(Seconds time) {
  if (time.value == 0) return "0 s";
  const auto [number, unit] = scaled(time);
  return fmt::format("{} {}", print_number(number), unit);
}

std::string print_times(std::initializer_list<std::pair<std::string_view, Seconds>> parts) {
  std::string text;
  for (const auto& [what, seconds] : parts)
    if (seconds.value > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, print_time(seconds));
  return text;
}

std::string print_count(std::int64_t count) {
  return with_separators(count);
}

std::string_view fit_word(Fit fit) {
  switch (fit) {
    case Fit::fits:
      return "yes";
    case Fit::marginal:
      return "marginal";
    case Fit::does_not_fit:
      return "no";
  }
  throw InternalError("unknown Fit");
}

std::string step_range(const Evaluation& evaluation) {
  const auto range = range_with_routing(evaluation);
  return range ? fmt::format(" ({} to {})", print_time(range->low), print_time(range->high)) : "";
}

std::string marginal_text(const MemoryUse& memory) {
  std::string text = fmt::format("it {}: {} to {} needed, {} available", marginal_verdict(memory),
                                 print_memory(memory.low), print_memory(memory.high), print_memory(memory.capacity));
  if (memory.reserved.value > 0) text += fmt::format(", {} of it to stay free", print_memory(memory.reserved));
  return text;
}

std::string shortage_text(Bytes needed, Bytes available) {
  return fmt::format("{} needed, {} available ({} too much)", print_memory(needed), print_memory(available),
                     print_memory(needed - available));
}

std::string infeasible_text(const Infeasible& infeasible) {
  if (infeasible.constraint != ConstraintId::hbm)
    return fmt::format("{}: {}", name_of(infeasible.constraint), infeasible.message);
  return "hbm: " + shortage_text({infeasible.needed}, {infeasible.available});
}

std::string in_slices(const Evaluation& evaluation) {
  if (evaluation.slices == 1) return "";
  const std::string_view noun =
      evaluation.configuration ? joined_noun(evaluation.configuration->hardware.fabric) : "slice";
  return fmt::format(" in {}", counted(evaluation.slices, noun));
}

std::string print_mesh(const Evaluation& evaluation) { return describe(evaluation.mesh) + in_slices(evaluation); }

std::string print_dollars(double dollars) {
  return dollars < 999.5 ? fmt::format("{:.3g}", dollars) : print_number(dollars);
}

std::string print_share(double share) {
  if (!std::isfinite(share)) throw InternalError("a share of the report is not finite");
  return fmt::format("{:.1f}%", 100 * share);
}

}  // namespace shardplan
