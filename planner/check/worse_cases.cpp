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

/// Something else there makes the check fail, and says why.
bool is_said(const CheckedPlace& place, const CheckAnswer& answer) {
  return std::any_of(answer.findings.begin(), answer.findings.end(), [&](const CheckedFinding& checked) {
    return checked.standing == Standing::counts && checked.finding.severity >= answer.fail_on && checked.bites.has(place);
  });
}

std::vector<Slower> slower_ones(const CheckAnswer& answer, const Baseline& baseline) {
  constexpr double worth_failing = 0.05;
  std::vector<Slower> slower;
  for (const CheckedCase& now : answer.costed) {
    const auto then = std::find_if(baseline.costed.begin(), baseline.costed.end(), [&](const CheckedCase& known) {
      return known.place == now.place && known.tokens == now.tokens;
    });
    if (then == baseline.costed.end() || then->step.value <= 0) continue;
    const Slower one{&now, &*then};
    if (one.share() >= worth_failing && !is_said(now.place, answer)) slower.push_back(one);
  }
  return slower;
}

CheckedFinding finding_of(const std::vector<Slower>& slower, const CheckAnswer& answer) {
  const Slower worst = *std::max_element(slower.begin(), slower.end(),
                                         [](const Slower& a, const Slower& b) { return a.share() < b.share(); });
  CheckedFinding checked;
  checked.worst = describe(worst.now->place);
  checked.finding = {FindingId::slower_than_baseline,
                     Severity::error,
                     fmt::format("a step takes {} and moves {}, in the baseline {} and {}: {:.1f}% longer, and no other "
                                 "finding fails the check there",
                                 in_words(worst.now->step), in_words(worst.now->moved), in_words(worst.then->step),
                                 in_words(worst.then->moved), 100 * worst.share()),
                     answer.rules,
                     {},
                     "shardplan compare --rules EARLIER --against " + answer.rules + " shows what moves"};
  for (const Slower& one : slower) checked.bites.add(one.now->place);
  return checked;
}

/// What a model's error leaves out are all of its places.
bool is_left_out(const CheckedPlace& place, const LeftOutCase& left_out) {
  return left_out.place.mesh.empty() ? left_out.place.model == place.model : left_out.place == place;
}

/// What ran then and is left out now.
std::vector<LeftOutCase> lost_ones(const CheckAnswer& answer, const Baseline& baseline) {
  std::vector<LeftOutCase> lost;
  for (const CheckedCase& then : baseline.costed) {
    const auto left_out = std::find_if(answer.left_out.begin(), answer.left_out.end(),
                                       [&](const LeftOutCase& one) { return is_left_out(then.place, one); });
    if (left_out != answer.left_out.end()) lost.push_back({then.place, left_out->why});
  }
  return lost;
}

CheckedFinding finding_of(const std::vector<LeftOutCase>& lost, const CheckAnswer& answer) {
  CheckedFinding checked;
  checked.worst = describe(lost.front().place);
  checked.finding = {FindingId::refused_since_baseline,
                     Severity::error,
                     "it ran in the baseline, and does not start now: " + lost.front().why,
                     answer.rules,
                     {},
                     ""};
  for (const LeftOutCase& one : lost) checked.bites.add(one.place);
  return checked;
}

}  // namespace

std::vector<CheckedFinding> worse_cases(const CheckAnswer& answer, const Baseline& baseline) {
  std::vector<CheckedFinding> worse;
  if (baseline.hardware != answer.hardware || baseline.arguments != answer.arguments) return worse;
  if (const auto slower = slower_ones(answer, baseline); !slower.empty()) worse.push_back(finding_of(slower, answer));
  if (const auto lost = lost_ones(answer, baseline); !lost.empty()) worse.push_back(finding_of(lost, answer));
  return worse;
}

}  // namespace shardplan
