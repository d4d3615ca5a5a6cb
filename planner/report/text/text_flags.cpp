// XLA's flags that a run is compiled with, what each is to the figures above, and which others would spare time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string effect_text(const CompilerFlag& flag) {
  switch (flag.effect) {
    case FlagEffect::modelled:
      return "modelled: " + flag.does;
    case FlagEffect::none:
      return "no effect on counts or memory: " + flag.does;
    case FlagEffect::not_modelled:
      return "not modelled: " + flag.does;
    case FlagEffect::unknown:
      return "not known; the figures are those without it";
    case FlagEffect::foreign:
      return "another compiler's: left out of the commands and the figures";
  }
  throw InternalError("unknown FlagEffect");
}

/// "-9.8% of the step"; of what doesn't show "nothing here"
std::string worth_text(const FlagWorth& worth) {
  const double percent = 100 * worth.share();
  return std::abs(percent) < 0.05 ? "nothing here" : fmt::format("{:+.1f}% of the step", percent);
}

std::string given_line(const CompilerFlag& flag, const std::vector<FlagWorth>& worths) {
  const auto worth = std::find_if(worths.begin(), worths.end(), [&](const FlagWorth& w) {
    return w.given && w.flag.name == flag.name;
  });
  const std::string here = worth == worths.end() ? "" : worth_text(*worth) + "; ";
  return fmt::format("{}  {}{}", print_flag(flag), here, effect_text(flag));
}

std::string offered_line(const FlagWorth& worth) {
  return fmt::format("{}  not set: {}; {} ({})", print_flag(worth.flag), worth_text(worth), worth.flag.does, worth.source);
}

}  // namespace

std::string flags_section(const Evaluation& evaluation, const Style& style) {
  if (!evaluation.configuration) return "";
  std::string lines;
  for (const CompilerFlag& flag : flags_of(*evaluation.configuration))
    lines += wrap_text(given_line(flag, evaluation.flag_worths), "  ", style.width());
  for (const FlagWorth& worth : evaluation.flag_worths)
    if (!worth.given) lines += wrap_text(offered_line(worth), "  ", style.width());
  if (lines.empty()) return "";
  const std::string& assumed = evaluation.configuration->compiler.flags_assumed_from;
  const std::string from = assumed.empty() ? "(--xla-flags; recipe: those that published recipes set)"
                                           : fmt::format("(assumed, since none were given: those of {}; --xla-flags none: "
                                                         "XLA's defaults)", assumed);
  return wrap_text(from, style.paint(Ink::bold, "XLA flags") + "  ",
                   style.width()) +
         lines;
}

}  // namespace shardplan
