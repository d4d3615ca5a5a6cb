#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/cli/streams/flag_remarks.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Empty: the figures have it.
std::string_view what_is_missing(FlagEffect effect) {
  switch (effect) {
    case FlagEffect::modelled:
    case FlagEffect::none:
      return "";
    case FlagEffect::not_modelled:
      return "not modelled: the figures are those without it";
    case FlagEffect::unknown:
      return "not known: the figures are those without it";
    case FlagEffect::foreign:
      return "another compiler's: the figures are those without it";
  }
  throw InternalError("unknown FlagEffect");
}

}  // namespace

void FlagRemarks::add(std::string_view machine, const Compiler& compiler) {
  for (const CompilerFlag& flag : compiler.flags) {
    if (what_is_missing(flag.effect).empty()) continue;
    const std::string text = print_flag(flag);
    auto remark = std::find_if(remarks_.begin(), remarks_.end(),
                               [&](const Remark& known) { return known.flag == text && known.effect == flag.effect; });
    if (remark == remarks_.end()) remark = remarks_.insert(remarks_.end(), {text, flag.effect, {}});
    auto& machines = remark->machines;
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.emplace_back(machine);
  }
}

void FlagRemarks::add(const PlanRequest& request) {
  for (const HardwareProfile& machine : request.machines)
    if (const auto compiler = request.compilers.find(machine.compiler); compiler != request.compilers.end())
      add(machine.name, compiler->second);
}

std::string FlagRemarks::text() const {
  std::string text;
  for (const auto& [flag, effect, machines] : remarks_)
    text += fmt::format("shardplan: {} on {}: {}\n", flag, fmt::join(machines, ", "), what_is_missing(effect));
  return text;
}

}  // namespace shardplan
