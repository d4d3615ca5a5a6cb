#include <cost_models/memory/compiler_budget.hpp>
#include <cost_models/time/cloned_gathers.hpp>
#include <cost_models/time/schedule/combined_collectives.hpp>

namespace shardplan {
namespace {

bool is_cloned(const Collective& c) {
  const bool backward = c.phase == Phase::rematerialized_forward || c.phase == Phase::backward;
  return backward && c.parameter && c.purpose() == CollectiveKind::all_gather;
}

}  // namespace

bool clones_combined_gathers(const MemoryUse& memory, const Compiler& compiler) {
  return combine_threshold(compiler, CollectiveKind::all_gather).value > 0 && exceeded_budget(memory, compiler);
}

void clone_combined_gathers(std::vector<Collective>& priced, const MemoryUse& memory, const Compiler& compiler) {
  if (!clones_combined_gathers(memory, compiler)) return;
  for (Collective& collective : priced) {
    if (!is_cloned(collective)) continue;
    collective.executions *= 2;
    collective.seconds = collective.seconds * 2;
  }
}

}  // namespace shardplan
