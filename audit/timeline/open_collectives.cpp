#include <algorithm>
#include <audit/timeline/open_collectives.hpp>

namespace shardplan {
namespace {

bool is_call(const HloStep& step) {
  return step.kind == HloStepKind::call || step.kind == HloStepKind::loop || step.kind == HloStepKind::branch;
}

bool is_large_kernel(const HloStep& step) {
  return step.kind == HloStepKind::kernel && step.work.kind != KernelKind::vector;
}

bool can_wait(const HloStep& step) {
  return step.half == AsyncHalf::whole && !is_call(step) && step.kind != HloStepKind::collective &&
         !is_large_kernel(step);
}

}  // namespace

std::vector<std::size_t> first_uses(const std::vector<HloStep>& steps) {
  std::vector<std::size_t> uses(steps.size(), steps.size());
  for (std::size_t user = steps.size(); user-- > 0;) {
    const std::size_t use = can_wait(steps[user]) ? uses[user] : user;
    for (const auto operand : steps[user].operands) uses[operand] = std::min(uses[operand], use);
  }
  return uses;
}

std::size_t earliest_begin(const std::vector<HloStep>& steps, std::size_t collective, int window) {
  std::vector<char> makes_it(collective, 0);
  const auto needs = [&](const HloStep& step) {
    for (const auto operand : step.operands) makes_it[operand] = 1;
  };
  needs(steps[collective]);
  std::size_t begin = collective;
  int passed = 0;
  for (std::size_t i = collective; i-- > 0;) {
    const HloStep& step = steps[i];
    if (is_call(step)) break;
    if (makes_it[i]) {
      if (is_large_kernel(step) || step.kind == HloStepKind::collective || step.half != AsyncHalf::whole) break;
      needs(step);
      continue;
    }
    if (step.kind != HloStepKind::kernel || step.half != AsyncHalf::whole) continue;
    begin = i;
    if (is_large_kernel(step) && ++passed == window) break;
  }
  return begin;
}

}  // namespace shardplan
