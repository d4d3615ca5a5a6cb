#include <fmt/format.h>

#include <planner/words/assumption_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string runs_in_words(const HardwareProfile& hardware) {
  if (!hardware.step_error) throw InternalError("an assumption about runs that there are none of");
  return fmt::format("as {} on {} came out", counted(hardware.step_error->runs, "published run"), hardware.name);
}

}  // namespace

std::string in_words(Assumption assumption, const HardwareProfile& hardware) {
  if (assumption == Assumption::published_runs) return runs_in_words(hardware);
  if (assumption == Assumption::overlap) return "if all collectives hid, or none did";
  const Figure* figure = figure_of(assumption, hardware);
  if (!figure) throw InternalError("an assumption about a figure that the profile hasn't");
  return fmt::format("with {} ({}) off by {:.0f}%", name_of(assumption), name_of(figure->basis),
                     100 * uncertainty_of(figure->basis));
}

}  // namespace shardplan
