// XLA's flags that a run is compiled with, and what each is to the figures above.
#include <fmt/format.h>

#include <planner/report/text/text_evaluation.hpp>
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
  }
  throw InternalError("unknown FlagEffect");
}

}  // namespace

std::string flags_section(const Evaluation& evaluation, const Style& style) {
  if (!evaluation.configuration || evaluation.configuration->compiler.flags.empty()) return "";
  std::string text = style.paint(Ink::bold, "XLA flags") + "\n";
  for (const CompilerFlag& flag : evaluation.configuration->compiler.flags)
    text += wrap_text(fmt::format("{}  {}", print_flag(flag), effect_text(flag)), "  ", style.width());
  return text;
}

}  // namespace shardplan
