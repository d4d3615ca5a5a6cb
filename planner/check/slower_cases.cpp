#include <fmt/format.h>

#include <algorithm>
#include <planner/check/slower_cases.hpp>
#include <shardplan/units.hpp>

namespace shardplan {
namespace {

struct Slower {
  const CheckedCase* now;
  const CheckedCase* then;
  double share() const { return now->step / then->step - 1; }
};

bool is_same(const CheckedCase& a, const CheckedCase& b) {
  return a.model == b.model && a.mesh == b.mesh && a.path == b.path && a.tokens == b.tokens;
}

template <class Item>
bool contains(const std::vector<Item>& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// A new finding there says why.
bool is_said(const CheckedCase& one, const CheckAnswer& answer) {
  return std::any_of(answer.findings.begin(), answer.findings.end(), [&](const CheckedFinding& checked) {
    return checked.standing == Standing::counts && checked.finding.severity >= Severity::warning &&
           contains(checked.bites.models, one.model) && contains(checked.bites.meshes, one.mesh);
  });
}

/// A baseline's figures are rounded.
bool moves_more(const CheckedCase& now, const CheckedCase& then) {
  return static_cast<double>(now.moved.value) > 1.001 * static_cast<double>(then.moved.value);
}

std::vector<Slower> slower_ones(const CheckAnswer& answer, const Baseline& baseline) {
  constexpr double worth_failing = 0.05;
  std::vector<Slower> slower;
  for (const CheckedCase& now : answer.costed) {
    const auto then = std::find_if(baseline.costed.begin(), baseline.costed.end(),
                                   [&](const CheckedCase& known) { return is_same(known, now); });
    if (then == baseline.costed.end() || then->step.value <= 0 || !moves_more(now, *then)) continue;
    const Slower one{&now, &*then};
    if (one.share() >= worth_failing && !is_said(now, answer)) slower.push_back(one);
  }
  return slower;
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (!contains(list, item)) list.push_back(item);
}

}  // namespace

std::optional<CheckedFinding> slower_cases(const CheckAnswer& answer, const Baseline& baseline) {
  if (baseline.hardware != answer.hardware) return std::nullopt;
  const std::vector<Slower> slower = slower_ones(answer, baseline);
  if (slower.empty()) return std::nullopt;
  const Slower worst = *std::max_element(slower.begin(), slower.end(),
                                         [](const Slower& a, const Slower& b) { return a.share() < b.share(); });
  CheckedFinding checked;
  checked.worst = fmt::format("{} on {}{}", worst.now->model, worst.now->mesh,
                              worst.now->path.empty() ? "" : fmt::format(", {} path", worst.now->path));
  checked.finding = {FindingId::slower_than_baseline,
                     Severity::error,
                     fmt::format("a step takes {} and moves {}, in the baseline {} and {}: {:.1f}% longer, and no other "
                                 "finding is new there",
                                 in_words(worst.now->step), in_words(worst.now->moved),
                                 in_words(worst.then->step), in_words(worst.then->moved), 100 * worst.share()),
                     answer.rules,
                     {},
                     "shardplan compare, with the earlier rules as --against, shows which collectives are new"};
  for (const Slower& one : slower) {
    ++checked.bites.cases;
    add_once(checked.bites.models, one.now->model);
    add_once(checked.bites.meshes, one.now->mesh);
  }
  for (const MoePath path : answer.paths)
    if (std::any_of(slower.begin(), slower.end(), [&](const Slower& one) { return one.now->path == name_of(path); }))
      checked.bites.paths.push_back(path);
  return checked;
}

}  // namespace shardplan
