#include <fmt/format.h>

#include <algorithm>
#include <planner/check/worse_cases.hpp>
#include <shardplan/units.hpp>

namespace shardplan {
namespace {

struct Slower {
  const CheckedCase* now;
  const CheckedCase* then;
  double share() const { return now->step / then->step - 1; }
};

template <class One, class Other>
bool is_same(const One& a, const Other& b) {
  return a.model == b.model && a.mesh == b.mesh && a.path == b.path;
}

template <class Item>
bool contains(const std::vector<Item>& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (!contains(list, item)) list.push_back(item);
}

template <class Case>
void add_bite(CheckedFinding& checked, const Case& one, const CheckAnswer& answer) {
  ++checked.bites.cases;
  add_once(checked.bites.models, one.model);
  add_once(checked.bites.meshes, one.mesh);
  for (const MoePath path : answer.paths)
    if (words_of(path) == one.path && !contains(checked.bites.paths, path)) checked.bites.paths.push_back(path);
}

template <class Case>
std::string place_of(const Case& one) {
  return fmt::format("{} on {}{}", one.model, one.mesh, one.path.empty() ? "" : fmt::format(", {} path", one.path));
}

/// Something else there makes the check fail, and says why.
bool is_said(const CheckedCase& one, const CheckAnswer& answer) {
  return std::any_of(answer.findings.begin(), answer.findings.end(), [&](const CheckedFinding& checked) {
    const Bites& bites = checked.bites;
    return checked.standing == Standing::counts && checked.finding.severity >= answer.fail_on &&
           contains(bites.models, one.model) && contains(bites.meshes, one.mesh) &&
           (one.path.empty() || std::any_of(bites.paths.begin(), bites.paths.end(),
                                            [&](MoePath path) { return words_of(path) == one.path; }));
  });
}

std::vector<Slower> slower_ones(const CheckAnswer& answer, const Baseline& baseline) {
  constexpr double worth_failing = 0.05;
  std::vector<Slower> slower;
  for (const CheckedCase& now : answer.costed) {
    const auto then = std::find_if(baseline.costed.begin(), baseline.costed.end(), [&](const CheckedCase& known) {
      return is_same(known, now) && known.tokens == now.tokens;
    });
    if (then == baseline.costed.end() || then->step.value <= 0) continue;
    const Slower one{&now, &*then};
    if (one.share() >= worth_failing && !is_said(now, answer)) slower.push_back(one);
  }
  return slower;
}

CheckedFinding finding_of(const std::vector<Slower>& slower, const CheckAnswer& answer) {
  const Slower worst = *std::max_element(slower.begin(), slower.end(),
                                         [](const Slower& a, const Slower& b) { return a.share() < b.share(); });
  CheckedFinding checked;
  checked.worst = place_of(*worst.now);
  checked.finding = {FindingId::slower_than_baseline,
                     Severity::error,
                     fmt::format("a step takes {} and moves {}, in the baseline {} and {}: {:.1f}% longer, and no other "
                                 "finding fails the check there",
                                 in_words(worst.now->step), in_words(worst.now->moved), in_words(worst.then->step),
                                 in_words(worst.then->moved), 100 * worst.share()),
                     answer.rules,
                     {},
                     "shardplan compare --rules EARLIER --against " + answer.rules + " shows what moves"};
  for (const Slower& one : slower) add_bite(checked, *one.now, answer);
  return checked;
}

std::vector<const LeftOutCase*> refused_ones(const CheckAnswer& answer, const Baseline& baseline) {
  std::vector<const LeftOutCase*> refused;
  for (const LeftOutCase& now : answer.refused)
    if (std::any_of(baseline.costed.begin(), baseline.costed.end(),
                    [&](const CheckedCase& then) { return is_same(then, now); }))
      refused.push_back(&now);
  return refused;
}

CheckedFinding finding_of(const std::vector<const LeftOutCase*>& refused, const CheckAnswer& answer) {
  CheckedFinding checked;
  checked.worst = place_of(*refused.front());
  checked.finding = {FindingId::refused_since_baseline,
                     Severity::error,
                     "it ran in the baseline, and does not start now: " + refused.front()->why,
                     answer.rules,
                     {},
                     ""};
  for (const LeftOutCase* one : refused) add_bite(checked, *one, answer);
  return checked;
}

}  // namespace

std::vector<CheckedFinding> worse_cases(const CheckAnswer& answer, const Baseline& baseline) {
  std::vector<CheckedFinding> worse;
  if (baseline.hardware != answer.hardware || baseline.arguments != answer.arguments) return worse;
  if (const auto slower = slower_ones(answer, baseline); !slower.empty()) worse.push_back(finding_of(slower, answer));
  if (const auto refused = refused_ones(answer, baseline); !refused.empty()) worse.push_back(finding_of(refused, answer));
  return worse;
}

}  // namespace shardplan
