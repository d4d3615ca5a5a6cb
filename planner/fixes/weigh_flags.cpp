#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <planner/fixes/weigh_flags.hpp>

namespace shardplan {
namespace {

constexpr double worth_setting = 0.01;  ///< of a step

bool is_given(const CompilerFlag& flag, const Compiler& compiler) {
  return std::any_of(compiler.flags.begin(), compiler.flags.end(),
                     [&](const CompilerFlag& given) { return given.name == flag.name; });
}

/// Without it another program is compiled, which isn't counted.
bool says_which_program(const CompilerFlag& flag) { return flag.change.switches.contains(Habit::multiplies_in_rings); }

}  // namespace

Seconds step_under(Configuration configuration, std::vector<CompilerFlag> flags) {
  configuration.compiler = with_flags(configuration.compiler, std::move(flags));
  PreparedMesh mesh;
  return evaluate_cost(configuration, mesh).time.with_routing();
}

std::vector<FlagWorth> weigh_flags(const Configuration& c, const RunCost& now) {
  std::vector<FlagWorth> worths;
  const std::vector<CompilerFlag> given = flags_of(c);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].effect != FlagEffect::modelled || says_which_program(given[i])) continue;
    std::vector<CompilerFlag> others = given;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    worths.push_back({given[i], true, now.time.with_routing(), step_under(c, std::move(others)), ""});
  }
  for (const auto& [flag, source] : c.compiler.offered) {
    if (is_given(flag, c.compiler)) continue;
    std::vector<CompilerFlag> more = given;
    more.push_back(flag);
    const FlagWorth worth{flag, false, step_under(c, std::move(more)), now.time.with_routing(), source};
    if (worth.share() <= -worth_setting) worths.push_back(worth);
  }
  return worths;
}

}  // namespace shardplan
